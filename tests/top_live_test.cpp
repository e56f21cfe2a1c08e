// SPDX-License-Identifier: Apache-2.0
// 'tidemark top' on a terminal of its own: it looks again and again, holds nothing that could
// disturb the run, and says when the run has ended or its host is gone.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>

#include "tests/promise_fixture.h"
#include "tests/streams_fixture.h"

namespace tidemark {
namespace {

constexpr const char* kClear = "\x1b[H\x1b[J";

// A command whose standard output is a terminal; all it printed so far.
class OnTerminal {
 public:
  OnTerminal(const std::string& directory, const std::vector<std::string>& arguments) {
    const winsize size{.ws_row = 50, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    std::vector<char*> words = {const_cast<char*>("tidemark")};
    for (const auto& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::close_range(3, ~0u, 0);  // only what it opens itself
    if (::chdir(directory.c_str()) == 0) ::execv(TIDEMARK_EXECUTABLE, words.data());
    ::_exit(99);
  }
  ~OnTerminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(terminal_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Waits up to this long for more.
  const std::string& read_more(int timeout_ms) {
    pollfd waiting{.fd = terminal_, .events = POLLIN, .revents = 0};
    char bytes[4096];
    if (::poll(&waiting, 1, timeout_ms) > 0)
      if (const ssize_t got = ::read(terminal_, bytes, sizeof(bytes)); got > 0)
        text_.append(bytes, static_cast<std::size_t>(got));
    return text_;
  }
  [[nodiscard]] std::size_t screens() const {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text_.find(kClear, at)) != std::string::npos; ++at) ++count;
    return count;
  }
  // Reads until so many screens have come.
  bool wait_for_screens(std::size_t wanted) {
    for (int tries = 0; tries < 600 && screens() < wanted; ++tries) read_more(100);
    return screens() >= wanted;
  }
  int finish() {
    int status = 0;
    for (int tries = 0; tries < 6000; ++tries) {
      read_more(0);
      sleep_us(10'000);  // a terminal that was hung up does not wait
      if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
      for (std::size_t before = ~std::size_t{0}; before != text_.size(); read_more(0))
        before = text_.size();
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return -1;
  }

 private:
  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string text_;
};

class TopLive : public Promise {
 protected:
  pid_t start_run() {
    const pid_t pid = start(
        "run synthetic_producer --lanes 2 --rate 20000 --seconds 600 --page-bytes 4096 "
        "--output-prefix r",
        "log");
    // Until its lanes write: it is under way.
    EXPECT_TRUE(wait_until([&] {
      rapidjson::Document json;
      json.Parse(run("top r --json").out.c_str());
      return json.IsObject() && json["streams"][0]["attempted"].GetUint64() > 0;
    })) << read(path("log"));
    return pid;
  }
  static std::uint64_t number_before(const std::string& text, std::size_t at) {
    std::string digits;
    while (at > 0 && (std::isdigit(text[at - 1]) != 0 || text[at - 1] == ','))
      if (text[--at] != ',') digits.insert(digits.begin(), text[at]);
    return digits.empty() ? 0 : std::stoull(digits);
  }
};

TEST_F(TopLive, LooksAgainAndAgainHoldsNothingAndSaysWhenTheRunHasEnded) {
  const pid_t run_pid = start_run();
  const std::string region = region_path(report_of("r")->run_id);
  OnTerminal top(directory_, {"top", "r", "--interval-ms", "50"});
  OnTerminal slow(directory_, {"top", "r", "--interval-ms", "60000"});
  ASSERT_TRUE(slow.wait_for_screens(1));
  ASSERT_TRUE(top.wait_for_screens(10));
  slow.read_more(0);
  EXPECT_EQ(slow.screens(), 1u) << "--interval-ms 60000";

  // As decision 8 says: the region read-only, no lock, no mapping, nothing open for writing but the
  // terminal.
  const std::string proc = fmt::format("/proc/{}/", top.pid());
  bool holds_region = false;
  for (const auto& entry : fs::directory_iterator(proc + "fd")) {
    std::error_code code;
    const std::string target = fs::read_symlink(entry.path(), code).string();
    const std::string info = read(proc + "fdinfo/" + entry.path().filename().string());
    const auto flags = std::stoul(info.substr(info.find("flags:") + 6), nullptr, 8);
    if (target.starts_with("/dev/pts/") || target == "/dev/ptmx") continue;
    EXPECT_EQ(flags & O_ACCMODE, static_cast<unsigned long>(O_RDONLY)) << target;
    EXPECT_EQ(info.find("lock:"), std::string::npos) << target << "\n" << info;
    holds_region = holds_region || target == region;
  }
  EXPECT_TRUE(holds_region);
  const std::string maps = read(proc + "maps");
  EXPECT_NE(maps.find("tidemark"), std::string::npos) << "its own program is there";
  EXPECT_EQ(maps.find("/dev/shm"), std::string::npos) << maps;
  EXPECT_EQ(maps.find(".tide"), std::string::npos) << maps;

  ::kill(run_pid, SIGTERM);
  EXPECT_EQ(finish(run_pid), 143);
  EXPECT_EQ(top.finish(), 0);
  const std::string& text = top.read_more(0);
  EXPECT_NE(text.find("the run has ended; see 'tidemark check r'"), std::string::npos) << text;
  // From look to look records only become more, and more have come in the end.
  std::uint64_t last = 0, first = 0;
  std::size_t looks = 0;
  for (std::size_t at = 0; (at = text.find(" records ", at)) != std::string::npos; ++at) {
    if (text.rfind("swimlane", at) == std::string::npos ||
        text.rfind("swimlane", at) < text.rfind('\n', at))
      continue;  // another stream
    const std::uint64_t records = number_before(text, at);
    EXPECT_GE(records, last);
    first = looks++ == 0 ? records : first;
    last = records;
  }
  EXPECT_GE(looks, 10u) << text.substr(0, 2000);
  EXPECT_GT(last, first);
  expect_refused("top r --interval-ms 49", 2, "--interval-ms");
  expect_refused("top r --interval-ms 60001", 2, "--interval-ms");
}

TEST_F(TopLive, OfARunWithoutARuntimeHasItsStreamsAndNoTasks) {
  const pid_t run_pid = start_run();
  const Finished text = run("top r --once"), json_look = run("top r --json");
  ::kill(run_pid, SIGTERM);
  EXPECT_EQ(finish(run_pid), 143);
  ASSERT_EQ(text.exit_code, 0) << text.error;
  EXPECT_NE(text.out.find("synthetic_producer default on sim: "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\ndrained  "), std::string::npos) << text.out;
  for (const char* of_a_runtime : {"\ntasks ", "\ncores ", "\nring ", "\norchestrator "})
    EXPECT_EQ(text.out.find(of_a_runtime), std::string::npos) << text.out;
  rapidjson::Document json;
  json.Parse(json_look.out.c_str());
  ASSERT_FALSE(json.HasParseError()) << json_look.out;
  for (const char* key : {"schema_version", "run_id", "workload", "platform", "host_alive",
                          "device_alive", "error_code", "elapsed_ns", "submitted", "completed",
                          "tasks_per_second", "scopes", "orchestration_done", "schedulers", "cores",
                          "rings", "drained_pages", "pages_per_second", "streams"})
    EXPECT_TRUE(json.HasMember(key)) << key;
  EXPECT_STREQ(json["workload"].GetString(), "synthetic_producer");
  EXPECT_TRUE(json["host_alive"].GetBool());
  EXPECT_TRUE(json["device_alive"].GetBool());
  EXPECT_EQ(json["cores"].Size(), 0u);
  EXPECT_EQ(json["schedulers"].Size(), 0u);
  EXPECT_EQ(json["submitted"].GetInt(), 0);
  ASSERT_EQ(json["streams"].Size(), 2u);
  for (const auto& stream : json["streams"].GetArray())
    for (const char* key : {"stream", "lanes", "attempted", "records_per_second", "pages",
                            "dropped", "waiting_lanes"})
      EXPECT_TRUE(stream.HasMember(key)) << key;
  EXPECT_STREQ(json["streams"][0]["stream"].GetString(), "swimlane");
  EXPECT_EQ(json["streams"][0]["lanes"].GetInt(), 2);
  EXPECT_GT(json["streams"][0]["attempted"].GetInt(), 0);
}

TEST_F(TopLive, OfADeadHostSaysSoUntilTheRunIsRecovered) {
  const pid_t run_pid = start_run();
  ::kill(run_pid, SIGKILL);
  EXPECT_EQ(finish(run_pid), 128 + SIGKILL);
  const Finished text = run("top r --once"), json = run("top r --json");
  EXPECT_EQ(text.exit_code, 0) << text.error;
  EXPECT_NE(text.out.find("the HOST IS GONE ('tidemark recover'"), std::string::npos) << text.out;
  EXPECT_NE(json.out.find("\"host_alive\": false"), std::string::npos) << json.out;
  const Finished recovered = run("recover r");
  EXPECT_EQ(recovered.exit_code, 0) << recovered.error;
  expect_refused("top r --once", 2, "the run is over (status 'recovered')");
}

}  // namespace
}  // namespace tidemark
