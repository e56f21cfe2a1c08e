// SPDX-License-Identifier: Apache-2.0
// A tool gives its text, is ended at its limit with all it started, and holds nothing of ours open.
#include "tidemark/base/tool_run.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/process_identity.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/base/wait_until.h"

namespace tidemark {
namespace {

class ToolRunTest : public ::testing::Test {
 protected:
  std::string script(const std::string& name, const std::string& text, mode_t mode = 0700) {
    const std::string path = home_.file(name);
    const std::string whole = "#!/bin/sh\n" + text + "\n";
    samples::write_bytes(path, {whole.begin(), whole.end()});
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  samples::TemporaryDirectory home_;
};

TEST_F(ToolRunTest, GivesBothOutputsAndTheExitCode) {
  const auto result = run_tool({.path = script("tool", "echo \"one $2\"; echo two >&2; exit 3"),
                                .args = {"a", "b c"},
                                .limit_ms = 20'000});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "one b c\ntwo\n");
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_FALSE(result->timed_out || result->is_cut);
}

TEST_F(ToolRunTest, ItsEnvironmentComesFirst) {
  ::setenv("TIDEMARK_TOOL_TEST", "ours", 1);
  ::setenv("TIDEMARK_TOOL_TEST_TWO", "two", 1);
  const auto result =
      run_tool({.path = script("tool", "echo \"$TIDEMARK_TOOL_TEST $TIDEMARK_TOOL_TEST_TWO\""),
                .environment = {"TIDEMARK_TOOL_TEST=its"},
                .limit_ms = 20'000});
  ::unsetenv("TIDEMARK_TOOL_TEST");
  ::unsetenv("TIDEMARK_TOOL_TEST_TWO");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "its two\n");
}

TEST_F(ToolRunTest, OneThatDoesNotEndIsEndedWithAllItStarted) {
  const auto result =
      run_tool({.path = script("tool", "sleep 600 & echo $!; wait"), .limit_ms = 700});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->exit_code, -1);
  ASSERT_FALSE(result->text.empty()) << "what it printed before is there";
  const int sleeper = std::stoi(result->text);
  EXPECT_TRUE(wait_until(
      [&] {
        return identify_process(sleeper).start_time == 0 || !is_alive(identify_process(sleeper));
      },
      10'000, 5));
}

TEST_F(ToolRunTest, OneThatClosesItsOutputsIsStillWaitedFor) {
  const auto result = run_tool(
      {.path = script("tool", "echo text; exec >&- 2>&-; sleep 0.2; exit 5"), .limit_ms = 20'000});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "text\n");
  EXPECT_EQ(result->exit_code, 5);
  EXPECT_FALSE(result->timed_out);
}

TEST_F(ToolRunTest, WhatItLeavesBehindIsEnded) {
  const auto result =
      run_tool({.path = script("tool", "sleep 600 >/dev/null 2>&1 & echo $!"), .limit_ms = 20'000});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->timed_out);
  const int sleeper = std::stoi(result->text);
  EXPECT_TRUE(wait_until([&] { return !is_alive(identify_process(sleeper)); }, 10'000, 5));
}

TEST_F(ToolRunTest, TooMuchTextIsCut) {
  const auto result = run_tool(
      {.path = script("tool", "yes | head -c 300000"), .limit_ms = 20'000, .text_bytes = 100'001});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text.size(), 100'001u);
  EXPECT_TRUE(result->is_cut);
  EXPECT_EQ(result->exit_code, 0) << "its pipe was read to its end";
}

TEST_F(ToolRunTest, HoldsNoFileOfThisProcess) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // without O_CLOEXEC, as any library may open a file
  const auto result =
      run_tool({.path = script("tool", "ls /proc/self/fd | wc -l"), .limit_ms = 20'000});
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_TRUE(result);
  EXPECT_LE(std::stoi(result->text), 5) << "its three, and those of ls";
}

TEST_F(ToolRunTest, BlockedSignalsAreNotInherited) {
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto result =
      run_tool({.path = script("tool", "kill -TERM $$; echo survived"), .limit_ms = 20'000});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "");
  EXPECT_EQ(result->exit_code, -1);
}

TEST_F(ToolRunTest, WhatIsNoProgramIsAnError) {
  EXPECT_FALSE(run_tool({.path = home_.file("nothing")}));
  EXPECT_FALSE(run_tool({.path = script("text", "echo no", 0600)}));
}

TEST_F(ToolRunTest, FindsTheFirstOfThePathThatMayBeRun) {
  const std::string before = samples::environment("PATH", "");
  script("tool", "", 0600);
  const samples::TemporaryDirectory second;
  samples::write_bytes(second.file("tool"), {'x'});
  ASSERT_EQ(::chmod(second.file("tool").c_str(), 0700), 0);
  ::setenv("PATH", (home_.path() + "::" + second.path()).c_str(), 1);
  EXPECT_EQ(find_tool("tool"), second.file("tool"));
  EXPECT_EQ(find_tool("no-such-tool"), "");
  ::setenv("PATH", "", 1);
  EXPECT_EQ(find_tool("tool"), "");
  ::setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace tidemark
