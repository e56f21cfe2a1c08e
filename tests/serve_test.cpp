// SPDX-License-Identifier: Apache-2.0
// `tidemark serve` from outside: what it answers, what it refuses, and what it leaves.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "tests/serve_fixture.h"
#include "tidemark/base/testing/plain_output.h"

namespace tidemark {
namespace {

using samples::RawClient;

constexpr const char* kAllStreams =
    "--enable-l2-swimlane=4 --enable-dep-gen --enable-scope-stats --dump-tensor";

class Serve : public ServeFixture {
 protected:
  void record(const std::string& run, const std::string& workload = "vector_example") {
    run_ok(fmt::format("run {} {} --output-prefix {}", workload, kAllStreams, run));
  }
  int status(const std::string& request) const {
    RawClient client(port_);
    client.send(request);
    return samples::status_of(client.receive_answer());
  }
  int status_of_path(const std::string& path) const {
    return status(samples::get_request(path, port_));
  }
};

TEST_F(Serve, GivesThePageItsFilesAndTheTilesOfTheRun) {
  record("r");
  serve("r");
  const std::string page = body("/");
  EXPECT_NE(page.find("vector_example default on sim"), std::string::npos);
  EXPECT_EQ(setup_of(page)["way"].GetString(), std::string("served"));
  EXPECT_TRUE(setup_of(page)["runs"].IsNull());
  EXPECT_EQ(body("/viewer.js"), read(TIDEMARK_SOURCE_DIR "/viewer/dist/viewer.js"));
  EXPECT_EQ(body("/viewer.css"), read(TIDEMARK_SOURCE_DIR "/viewer/dist/viewer.css"));
  const std::string prefix = run_prefix();
  const auto index = index_when(prefix, is_complete);
  EXPECT_EQ(index["format"].GetString(), std::string("tidemark-tiles"));
  EXPECT_FALSE(index["live"].GetBool());
  ASSERT_GT(index["tracks"].Size(), 0u);
  for (const auto& track : index["tracks"].GetArray()) {
    const std::string name = fmt::format("dir/{}", track["id"].GetUint());
    const std::string tile = ask(fmt::format("{}{}{}", prefix, index["blobs"].GetString(), name));
    EXPECT_EQ(samples::status_of(tile), 200) << name;
    EXPECT_NE(tile.find("immutable"), std::string::npos);
    const std::string newest = ask(prefix + name);
    EXPECT_EQ(samples::body_of(newest), samples::body_of(tile));
    EXPECT_NE(newest.find("no-store"), std::string::npos) << "it may be another one in a second";
  }
  EXPECT_NE(ask(prefix + "index.json").find("Cache-Control: no-store"), std::string::npos);
}

TEST_F(Serve, AnIndexThatHasNotChangedIsNotSentAgain) {
  record("r");
  serve("r");
  const std::string prefix = run_prefix();
  index_when(prefix, is_complete);
  const std::string answer = ask(prefix + "index.json");
  const std::size_t at = answer.find("ETag: ") + 6;
  const std::string tag = answer.substr(at, answer.find('\r', at) - at);
  const std::string again = ask(prefix + "index.json", "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(samples::status_of(again), 304);
  EXPECT_EQ(samples::body_of(again), "");
}

TEST_F(Serve, PathsLeadNowhereElse) {
  record("r");
  serve("r");
  const std::string prefix = token_ + run_prefix();
  for (const char* path : {"../run.json",
                           "..%2frun.json",
                           "%2e%2e/run.json",
                           "%2e%2e%2frun.json",
                           "..%5crun.json",
                           "..\\run.json",
                           "....//run.json",
                           "t/../../../r/run.json",
                           "./index.json",
                           "/index.json",
                           "/etc/passwd",
                           "%2fetc%2fpasswd",
                           "t%00/0",
                           "index.json%00.js",
                           "g1/../index.json",
                           "g99999999999999999999999/dir/0",
                           "g-1/dir/0",
                           "g1",
                           "g1/",
                           "g01x/dir/0",
                           "run.json",
                           "capture.tide",
                           "INDEX.JSON",
                           ""})
    EXPECT_EQ(status_of_path(prefix + path), 404) << path;
  for (const char* path : {"/run/", "/run", "/run/0000000000000000/index.json",
                           "/run/../r/run.json", "/run//index.json", "/runs.json", "/index.html",
                           "/favicon.ico", "//", "/viewer.js/", "/%72un.json"})
    EXPECT_EQ(status_of_path(token_ + path), 404) << path;
  // What a browser does with a path before it asks is no affair of ours; a raw one is refused.
  for (const std::string& path : {"/.." + token_ + "/", "/x/.." + token_ + "/", "/%2e" + token_})
    EXPECT_EQ(status_of_path(path), 403) << path;
}

TEST_F(Serve, OtherHostsWrongTokensAndOtherMethodsAreRefused) {
  record("r");
  serve("r");
  const auto with_host = [&](const std::string& host) {
    return status(fmt::format("GET {}/ HTTP/1.1\r\n{}\r\n", token_, host));
  };
  EXPECT_EQ(with_host(fmt::format("Host: localhost:{}\r\n", port_)), 200);
  EXPECT_EQ(with_host(fmt::format("hOsT: [::1]:{}\r\n", port_)), 200);
  for (const std::string& host :
       {std::string(), fmt::format("Host: evil.example:{}\r\n", port_),
        fmt::format("Host: 127.0.0.1:{}\r\n", port_ + 1), std::string("Host: 127.0.0.1\r\n"),
        fmt::format("Host: 127.0.0.1:{0}\r\nHost: evil.example:{0}\r\n", port_)})
    EXPECT_EQ(with_host(host), 403) << host;
  std::string wrong = token_;
  wrong[5] = wrong[5] == '0' ? '1' : '0';
  for (const std::string& path :
       {std::string("/"), std::string("/viewer.js"), wrong + "/", token_.substr(0, 32) + "/",
        token_ + "0/", std::string("/runs.json")})
    EXPECT_EQ(status_of_path(path), 403) << path;
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"})
    EXPECT_EQ(
        status(fmt::format("{} {}/ HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 2\r\n\r\nab",
                           method, token_, port_)),
        405)
        << method;
  EXPECT_EQ(samples::ask(port_, "/").find("r/"), std::string::npos) << "it names what it has";
}

TEST_F(Serve, RequestsWithoutEndAreEnded) {
  record("r");
  serve("r");
  for (const char* begin : {"GET /", "GET / HTTP/1.1\r\nX: ", "GET / HTTP/1.1\r\n"}) {
    RawClient client(port_);
    client.send(begin);
    const std::string part = begin[7] == 0 ? std::string(8192, 'a') : "X-Y: z\r\n";
    std::size_t sent = 0;
    while (sent < (32u << 20) && client.send(part)) sent += part.size();
    EXPECT_LT(sent, 32u << 20) << begin;
  }
  EXPECT_EQ(samples::status_of(ask("/")), 200);
}

TEST_F(Serve, BesideAThousandIdleConnectionsANewRequestIsAnsweredWithinASecond) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit before = files;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  record("r");
  // As many files as most systems allow, and fewer than there are connections.
  for (const char* limit : {"4096", "1024", "100"}) {
    serve("r", fmt::format("ulimit -n {}", limit));
    std::vector<std::unique_ptr<RawClient>> idle;
    for (int i = 0; i < 1000; ++i) {
      idle.push_back(std::make_unique<RawClient>(port_));
      ASSERT_TRUE(idle.back()->connected()) << i;
      if (i % 2 == 1) idle.back()->send("GET /half HTTP/1.1\r\nHo");
    }
    // The least of a few: who is held up by the others is so every time.
    std::uint64_t least_us = ~std::uint64_t{0};
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t begin = now_us();
      EXPECT_EQ(samples::status_of(ask("/")), 200);
      least_us = std::min(least_us, now_us() - begin);
    }
    EXPECT_LT(least_us, 1'000'000u) << limit;
    EXPECT_EQ(stop(SIGTERM).exit_code, 143);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(Serve, ARunIsReadAndNothingOfItChanges) {
  record("r");
  record("other", "nan_producer --case healthy");
  const auto run_before = everything_in("r"), other_before = everything_in("other");
  serve("r --compare other");
  for (const char* which : {"run", "other"}) {
    const std::string prefix = run_prefix(which);
    const auto index = index_when(prefix, is_complete);
    for (const auto& track : index["tracks"].GetArray())
      body(fmt::format("{}dir/{}", prefix, track["id"].GetUint()));
    for (const auto& name : index["documents"].GetArray()) body(prefix + "doc/" + name.GetString());
  }
  EXPECT_FALSE(fs::is_empty(path("tmp"))) << "its tiles are somewhere else";
  EXPECT_EQ(stop(SIGINT).exit_code, 130);
  EXPECT_EQ(everything_in("r"), run_before);
  EXPECT_EQ(everything_in("other"), other_before);
  EXPECT_TRUE(fs::is_empty(path("tmp"))) << "the tiles are left";
}

TEST_F(Serve, TheCacheIsPrivateAndNeverInARun) {
  record("r");
  fs::create_directories(path("cache"));
  serve("r --cache cache");
  index_when(run_prefix(), is_complete);
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(path("cache"))) {
    EXPECT_EQ(fs::status(entry).permissions(), fs::perms::owner_all);
    EXPECT_TRUE(fs::is_empty(entry)) << "a kill would leave its tiles";
    ++folders;
  }
  EXPECT_EQ(folders, 1u);
  EXPECT_EQ(stop(SIGTERM).exit_code, 143);
  EXPECT_TRUE(fs::is_empty(path("cache")));
  expect_refused("serve r --cache r", 2, "is in the run");
  expect_refused("serve r --cache nowhere", 2, "nowhere is not a folder");
}

TEST_F(Serve, AFolderOfRunsIsAListNewestFirst) {
  const std::string hostile = "runs/<img src=x onerror=alert(1)>\"'&\n\x1b[31m";
  fs::create_directories(path("runs/no_run"));
  record("runs/a");
  record("runs/b", "nan_producer --case healthy");
  fs::copy(path("runs/a"), path(hostile), fs::copy_options::recursive);
  fs::create_directories(path("runs/damaged"));
  std::ofstream(path("runs/damaged/run.json")) << "{";
  // Times of files come in steps, so that neighbours may have the same.
  int age_s = 40;
  for (const std::string& one : {std::string("runs/a"), std::string("runs/b"), hostile})
    fs::last_write_time(path(one + "/run.json"),
                        fs::file_time_type::clock::now() - std::chrono::seconds(age_s -= 10));
  serve("runs");
  EXPECT_EQ(setup_of(body("/"))["runs"].GetString(), std::string("runs.json"));
  const auto list = parse(body("/runs.json"));
  ASSERT_EQ(list["runs"].Size(), 4u);
  EXPECT_EQ(list["left_out"].GetUint(), 0u);
  EXPECT_EQ(list["runs"][0]["name"].GetString(), std::string("damaged"));
  EXPECT_EQ(list["runs"][2]["name"].GetString(), std::string("b"));
  EXPECT_EQ(list["runs"][2]["title"].GetString(), std::string("nan_producer healthy on sim"));
  EXPECT_EQ(list["runs"][3]["status"].GetString(), std::string("ok"));
  EXPECT_GT(list["runs"][3]["bytes"].GetUint64(), 1000u);
  for (const auto& one : list["runs"].GetArray()) {
    EXPECT_EQ(first_order_in(one["name"].GetString()), "");
    const std::string prefix = std::string("/") + one["path"].GetString();
    const bool damaged = one["name"].GetString() == std::string("damaged");
    const auto index = index_when(prefix, [&](const auto& now) {
      return damaged ? now.HasMember("error") : is_complete(now);
    });
    EXPECT_EQ(index.HasMember("tracks"), !damaged);
  }
}

TEST_F(Serve, RunsThatComeWhileItServesAreInTheList) {
  fs::create_directories(path("runs"));
  serve("runs");
  EXPECT_EQ(parse(body("/runs.json"))["runs"].Size(), 0u);
  record("runs/a");
  sleep_us(1'100'000);
  const auto list = parse(body("/runs.json"));
  ASSERT_EQ(list["runs"].Size(), 1u);
  index_when(std::string("/") + list["runs"][0]["path"].GetString(), is_complete);
}

TEST_F(Serve, WithoutARunItIsTheNewestAndUnknownOnesAreNamed) {
  expect_refused("serve", 2, "no run found below outputs/");
  expect_refused("serve nothing", 2, "nothing is not a run: no such directory");
  run_ok("run vector_example --enable-l2-swimlane");
  serve("");
  index_when(run_prefix(), is_complete);
}

TEST_F(Serve, APortThatIsTakenIsNamed) {
  record("r");
  serve("r");
  expect_refused(fmt::format("serve r --port {}", port_), 2, fmt::format("--port {}", port_));
  expect_refused("serve r --port 65536", 2, "--port");
}

}  // namespace
}  // namespace tidemark
