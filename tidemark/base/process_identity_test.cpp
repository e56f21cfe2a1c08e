// SPDX-License-Identifier: Apache-2.0
// A process is its pid and its start time: a zombie, a dead one and a recycled pid are not alive.
#include "tidemark/base/process_identity.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

pid_t start_sleeper() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  return pid;
}

TEST(ProcessIdentity, KnowsThisProcess) {
  const ProcessIdentity self = this_process();
  EXPECT_EQ(self.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_NE(self.start_time, 0u);
  EXPECT_TRUE(is_alive(self));
}

TEST(ProcessIdentity, ARecycledPidIsAnotherProcess) {
  ProcessIdentity other = this_process();
  other.start_time += 1;
  EXPECT_FALSE(is_alive(other));
  EXPECT_FALSE(is_alive({}));
  EXPECT_TRUE(end_process(other, 1000)) << "nothing is left to end, and nobody else is";
}

TEST(ProcessIdentity, EndsAProcessAndSeesThatItIsGone) {
  const pid_t pid = start_sleeper();
  ASSERT_GT(pid, 0);
  const ProcessIdentity sleeper = identify_process(static_cast<std::uint32_t>(pid));
  EXPECT_TRUE(is_alive(sleeper));
  EXPECT_TRUE(end_process(sleeper, 5000));
  EXPECT_FALSE(is_alive(sleeper)) << "a zombie is dead";
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(identify_process(static_cast<std::uint32_t>(pid)).start_time, 0u);
  EXPECT_TRUE(end_process(sleeper, 0));
}

TEST(ProcessIdentity, ReadsTheStartTimeBehindAnyProcessName) {
  const ProcessIdentity before = this_process();
  char name[17] = {};
  ::prctl(PR_GET_NAME, name);
  ::prctl(PR_SET_NAME, ") R 1 2 (x");
  EXPECT_EQ(this_process().start_time, before.start_time);
  ::prctl(PR_SET_NAME, name);
}

TEST(ProcessIdentity, BootAndHostHaveAName) {
  EXPECT_EQ(boot_id().size(), 36u);
  EXPECT_EQ(boot_id(), boot_id());
  EXPECT_FALSE(host_id().empty());
}

}  // namespace
}  // namespace tidemark
