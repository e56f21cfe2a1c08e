// SPDX-License-Identifier: Apache-2.0
// `tidemark report`: one file with everything inside, and a folder for a web server, of runs of
// every kind.
#include <algorithm>
#include <map>

#include <rapidjson/document.h>

#include "tests/child_process.h"
#include "tests/command_line_fixture.h"
#include "tidemark/run/run_report.h"
#include "tidemark/serve/page_text.h"
#include "tidemark/tiles/raw_deflate.h"

namespace tidemark {
namespace {

std::string bytes_of_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned held = 0, bits = 0;
  for (const char c : text) {
    const std::size_t value = digits.find(c);
    if (value == std::string::npos) break;
    held = held << 6 | static_cast<unsigned>(value);
    bits += 6;
    if (bits >= 8) bytes += static_cast<char>(held >> (bits -= 8) & 255);
  }
  return bytes;
}

// A page with everything inside, taken apart as a browser does: a script element ends at the first
// end tag.
struct Page {
  explicit Page(const std::string& html) : text(html) {
    const std::string begin = "<script type=\"application/octet-stream\" data-name=\"";
    for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at)) {
      at += begin.size();
      const std::size_t quote = html.find("\">", at), end = html.find("</script>", quote);
      blobs[html.substr(at, quote - at)] = bytes_of_base64(html.substr(quote + 2, end - quote - 2));
      at = end;
    }
    const std::string setup = "<script type=\"application/json\" id=\"setup\">";
    const std::size_t at = html.find(setup);
    if (at == std::string::npos) return;
    const std::size_t from = at + setup.size();
    json.Parse(html.substr(from, html.find("</script>", from) - from).c_str());
  }
  [[nodiscard]] rapidjson::Document index(const std::string& prefix = "run/") const {
    rapidjson::Document document;
    const auto found = blobs.find(prefix + "index.json");
    if (found != blobs.end()) document.Parse(found->second.c_str(), found->second.size());
    return document;
  }

  std::string text;
  std::map<std::string, std::string> blobs;
  rapidjson::Document json;
};

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

class Report : public CommandLine {
 protected:
  void run_ok(const std::string& arguments) {
    const Finished done = run(arguments);
    ASSERT_EQ(done.exit_code, 0) << arguments << "\n" << done.out << done.error;
  }
  // Made, and as a page has to be.
  Page page_of(const std::string& name) {
    const Finished done = run("report " + name + " -o page.html");
    EXPECT_EQ(done.exit_code, 0) << done.error;
    Page page(read(path("page.html")));
    EXPECT_TRUE(page.json.IsObject() && page.json["way"].GetString() == std::string("embedded"));
    const auto index = page.index();
    EXPECT_TRUE(index.IsObject()) << "its index is no JSON";
    if (!index.IsObject()) return page;
    EXPECT_TRUE(index["run"].IsObject());
    for (const auto& [blob, bytes] : page.blobs)
      EXPECT_TRUE(blob == "run/index.json" ||
                  inflate_raw({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()},
                              64u << 20))
          << blob;
    for (std::size_t i = 0; index.HasMember("tracks") && i < index["tracks"].Size(); ++i)
      EXPECT_TRUE(page.blobs.contains(
          fmt::format("run/dir/{}", index["tracks"][static_cast<unsigned>(i)]["id"].GetUint())));
    return page;
  }
};

TEST_F(Report, OneFileHasEverythingInsideAndMayLoadNothing) {
  run_ok(
      "run vector_example --enable-l2-swimlane --enable-dep-gen --enable-scope-stats "
      "--output-prefix r");
  const Page page = page_of("r");
  EXPECT_EQ(page.json["run"].GetString(), std::string("run/"));
  EXPECT_TRUE(page.json["other"].IsNull());
  EXPECT_GT(page.index()["tracks"].Size(), 0u);
  EXPECT_NE(page.text.find(read(TIDEMARK_SOURCE_DIR "/viewer/dist/viewer.js")), std::string::npos);
  EXPECT_NE(page.text.find(read(TIDEMARK_SOURCE_DIR "/viewer/dist/viewer.css")), std::string::npos);
  for (const char* word : {"default-src 'none'", "connect-src 'none'", "script-src 'sha256-"})
    EXPECT_NE(page.text.find(word), std::string::npos) << word;
  const std::string head = page.text.substr(0, page.text.find("</head>"));
  for (const char* word : {" src=", "href=\"viewer", "://", "unsafe-inline", "unsafe-eval"})
    EXPECT_EQ(head.find(word), std::string::npos) << word;
}

TEST_F(Report, ItsSizeIsSaidAndTrue) {
  run_ok("run vector_example --enable-l2-swimlane --output-prefix r");
  const Finished done = run("report r");
  ASSERT_EQ(done.exit_code, 0) << done.error;
  const auto bytes = fs::file_size(path("r/report.html"));
  EXPECT_NE(
      done.out.find(fmt::format("r/report.html: {:.1f} KiB", static_cast<double>(bytes) / 1024)),
      std::string::npos)
      << done.out << bytes;
  EXPECT_EQ(fs::status(path("r/report.html")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  run_ok("report r -o open.html --file-mode 0644");
  EXPECT_EQ(static_cast<unsigned>(fs::status(path("open.html")).permissions()), 0644u);
  // To the byte: the limit is the size of the file.
  run_ok(fmt::format("report r -o exact.html --max-bytes {}", bytes));
  EXPECT_EQ(fs::file_size(path("exact.html")), bytes);
  EXPECT_EQ(run(fmt::format("report r -o less.html --max-bytes {}", bytes - 1)).exit_code, 2);
}

TEST_F(Report, AFileThatWouldBeTooLargeIsNotBegunAndOtherWaysAreNamed) {
  run_ok("run vector_example --enable-l2-swimlane --output-prefix r");
  std::ofstream(path("page.html")) << "an older one";
  expect_refused("report r -o page.html --max-bytes 5000", 2,
                 "page.html would be larger than 4.9 KiB (--max-bytes 5000)");
  const Finished done = run("report r -o page.html --max-bytes 5000");
  for (const char* way : {"tidemark report r --tiles DIR", "tidemark serve r"})
    EXPECT_NE(done.error.find(way), std::string::npos) << done.error;
  EXPECT_EQ(read(path("page.html")), "an older one");
  for (const auto& entry : fs::directory_iterator(directory_))
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
}

TEST_F(Report, ASecondRunIsBesideTheFirst) {
  run_ok("run nan_producer --case healthy --enable-l2-swimlane --output-prefix a");
  run_ok("run vector_example --enable-l2-swimlane --output-prefix b");
  run_ok("report a --compare b -o page.html");
  const Page page(read(path("page.html")));
  EXPECT_EQ(page.json["other"].GetString(), std::string("other/"));
  EXPECT_EQ(page.index()["run"]["workload"].GetString(), std::string("nan_producer"));
  EXPECT_EQ(page.index("other/")["run"]["workload"].GetString(), std::string("vector_example"));
  expect_refused("report a --compare nothing -o page.html", 2, "nothing is not a run");
}

TEST_F(Report, ARunOfEveryKindHasAPage) {
  const std::pair<const char*, const char*> kinds[] = {
      {"ok", "vector_example --enable-l2-swimlane=4 --enable-dep-gen --enable-scope-stats"},
      {"ok", "empty --enable-l2-swimlane --enable-dep-gen"},
      {"mismatch", "nan_producer --dump-tensor --enable-l2-swimlane"},
      {"hang", "hang_kernel --enable-l2-swimlane --dump-tensor --scheduler-timeout-ms 300"},
      {"fatal", "heap_deadlock --enable-l2-swimlane --enable-scope-stats"},
      {"device_fault", "crash_kernel --enable-l2-swimlane"},
      {"ok", "synthetic_producer --lanes 2 --records 20000 --policy keep-last --keep-pages 4"},
      {"ok", "synthetic_producer --lanes 3 --records 30000 --policy drop --page-bytes 4096"},
      {"ok", "vector_example"},
      {"hang", "hang_kernel --scheduler-timeout-ms 300"}};
  for (const auto& [status, arguments] : kinds) {
    SCOPED_TRACE(arguments);
    run(std::string("run ") + arguments + " --force --output-prefix r");
    ASSERT_TRUE(fs::exists(path("r/run.json")));
    const Page page = page_of("r");
    EXPECT_EQ(page.index()["run"]["status"].GetString(), std::string(status));
    const bool captured = fs::exists(path("r/capture.tide"));
    EXPECT_EQ(page.index().HasMember("tracks"), captured);
    EXPECT_EQ(page.index().HasMember("error"), !captured);
  }
}

TEST_F(Report, ARecoveredRunAndOneThatWasNeverFinishedHavePages) {
  const pid_t host = start_program(
      {"/bin/sh", "-c",
       fmt::format("cd '{}' && exec '{}' run synthetic_producer --lanes 2 --rate 100000 --seconds "
                   "60 --output-prefix r",
                   directory_, TIDEMARK_EXECUTABLE)},
      path("log.txt"));
  while (!fs::exists(path("r/capture.tide")) || fs::file_size(path("r/capture.tide")) < 100'000)
    sleep_us(1'000);
  sleep_us(300'000);
  EXPECT_EQ(page_of("r").index()["run"]["status"].GetString(), std::string("running"));
  ::kill(host, SIGKILL);
  ASSERT_TRUE(wait_for(host, 60'000));
  EXPECT_EQ(page_of("r").index()["run"]["status"].GetString(), std::string("running"));
  run_ok("recover r");
  EXPECT_EQ(page_of("r").index()["run"]["status"].GetString(), std::string("recovered"));
}

TEST_F(Report, NamesOfARunAreTextInThePage) {
  run_ok("run vector_example --enable-l2-swimlane --output-prefix r");
  const std::string mean = "</script><script>alert(1)</script><!--\\\"'&{{data}}";
  std::string json = read(path("r/run.json"));
  const std::string name = "\"vector_example\"";
  json.replace(json.find(name), name.size(), "\"" + mean + "\"");
  std::ofstream(path("r/run.json"), std::ios::trunc) << json;
  fs::remove(path("r/capture.tide"));
  const Page page = page_of("r");
  EXPECT_EQ(page.text.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.text.find("<title>&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_EQ(count_of(page.text, "</title>"), 1u);
  EXPECT_EQ(page.blobs.size(), 1u) << "a name was taken for a place of the template";
}

TEST_F(Report, WhatIsNoCaptureEndsWithOneLine) {
  run_ok("run vector_example --enable-l2-swimlane --output-prefix r");
  const std::string whole = read(path("r/capture.tide"));
  const auto put = [&](const std::string& bytes) {
    std::ofstream(path("r/capture.tide"), std::ios::trunc | std::ios::binary) << bytes;
  };
  for (const std::string& bytes : {std::string(), std::string(100'000, 0), std::string(70'000, 'x'),
                                   whole.substr(0, 63), "garbage" + whole.substr(7, 200)}) {
    put(bytes);
    const Finished done = run("report r -o page.html");
    EXPECT_EQ(done.exit_code, 4) << bytes.size() << done.error;
    EXPECT_EQ(count_of(done.error, "\n"), 1u) << done.error;
    EXPECT_NE(done.error.find("capture.tide"), std::string::npos) << done.error;
    EXPECT_FALSE(fs::exists(path("page.html")));
  }
  // Cut anywhere: what is left is shown, or one line says why not.
  for (std::size_t cut = 64; cut < whole.size(); cut += whole.size() / 23) {
    put(whole.substr(0, cut));
    const Finished done = run("report r -o page.html");
    EXPECT_TRUE(done.exit_code == 0 || done.exit_code == 4) << cut << done.error;
    EXPECT_LE(count_of(done.error, "\n"), 1u) << done.error;
  }
  expect_refused("report nothing", 2, "nothing is not a run: no such directory");
  expect_refused("report", 2, "no run found below outputs/");
}

TEST_F(Report, ASiteIsAFolderOfFiles) {
  run_ok("run vector_example --enable-l2-swimlane --output-prefix r");
  run_ok("run nan_producer --case healthy --enable-l2-swimlane --output-prefix other");
  run_ok("report r --tiles site --compare other");
  for (const char* file :
       {"index.html", "viewer.js", "viewer.css", "run/index.json", "run/dir/0", "other/index.json"})
    EXPECT_TRUE(fs::is_regular_file(path(std::string("site/") + file))) << file;
  const Page page(read(path("site/index.html")));
  EXPECT_EQ(page.json["way"].GetString(), std::string("site"));
  EXPECT_EQ(page.json["run"].GetString(), std::string("run/"));
  EXPECT_EQ(page.json["other"].GetString(), std::string("other/"));
  EXPECT_EQ(read(path("site/viewer.js")), page_bundle().script);
  for (const auto& entry : fs::recursive_directory_iterator(path("site")))
    EXPECT_EQ(fs::status(entry).permissions() & (fs::perms::group_all | fs::perms::others_all),
              fs::perms::none)
        << entry.path();
}

TEST_F(Report, ASiteIsMadeAnewInPlaceOfAnEarlierOneAndOfNothingElse) {
  run_ok("run vector_example --enable-l2-swimlane --output-prefix r");
  run_ok("run nan_producer --case healthy --enable-l2-swimlane --output-prefix other");
  fs::create_directories(path("empty"));
  run_ok("report other --tiles empty --compare r");
  run_ok("report r --tiles empty");
  EXPECT_FALSE(fs::exists(path("empty/other"))) << "a page that nobody asked for is left";
  EXPECT_NE(read(path("empty/run/index.json")).find("vector_example"), std::string::npos);
  fs::create_directories(path("mine"));
  std::ofstream(path("mine/run")) << "do not touch";
  expect_refused("report r --tiles mine", 2, "--tiles mine: holds other files");
  EXPECT_EQ(read(path("mine/run")), "do not touch");
  expect_refused("report r --tiles r", 2, "--tiles r: holds other files");
  expect_refused("report r --tiles r/run.json", 2, "is not a folder");
  expect_refused("report r --tiles x -o y.html", 2, "-o");
  // A run that cannot be read leaves the site as it was.
  const std::string before = read(path("empty/run/index.json"));
  std::ofstream(path("other/capture.tide"), std::ios::trunc) << "x";
  EXPECT_EQ(run("report other --tiles empty").exit_code, 4);
  EXPECT_EQ(read(path("empty/run/index.json")), before);
}

}  // namespace
}  // namespace tidemark
