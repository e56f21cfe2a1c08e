// SPDX-License-Identifier: Apache-2.0
// Frozen is not hung: runs whose processes are stopped for longer than any limit end well when they
// are continued, a device that is stopped alone is reported as stopped, and a real hang is found.
#include <random>

#include "tests/hang_fixture.h"
#include "tests/promise_fixture.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kLimitMs = 2000;

class Freeze : public Promise, public testing::WithParamInterface<const char*> {
 protected:
  // The host, its supervisor and its device.
  static std::vector<pid_t> family(pid_t host) {
    std::vector<pid_t> all = {host};
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const pid_t child : children_of(all[i])) all.push_back(child);
    return all;
  }
  static void send(const std::vector<pid_t>& processes, int signal) {
    for (const pid_t pid : processes) ::kill(pid, signal);
  }
  pid_t start_slow(const std::string& more = "") {
    return start(fmt::format("run slow_kernel --enable-l2-swimlane --isolation {} "
                             "--scheduler-timeout-ms {} --no-sync --output-prefix a --force {}",
                             GetParam(), kLimitMs, more),
                 "log.txt");
  }
};
INSTANTIATE_TEST_SUITE_P(Isolations, Freeze, testing::Values("process", "thread"));

// A device that is a process of its own.
class FreezeOfADevice : public Freeze {};
INSTANTIATE_TEST_SUITE_P(Isolations, FreezeOfADevice, testing::Values("process"));

TEST_P(Freeze, OfAllProcessesForLongerThanTheLimitIsNoHang) {
  std::mt19937_64 random(first_seed() + 7);
  std::uint32_t stopped = 0;
  for (std::uint32_t round = 0; round < rounds(2, 50); ++round) {
    SCOPED_TRACE(round);
    fs::remove(path("log.txt"));
    const pid_t pid = start_slow();
    sleep_us(20'000 + random() % 1'000'000);
    const auto processes = family(pid);
    send(processes, SIGSTOP);
    sleep_us(kLimitMs * 1300);
    stopped += !wait_for(pid, 0).has_value() ? 1 : 0;
    send(processes, SIGCONT);
    EXPECT_EQ(finish(pid), 0) << read(path("log.txt"));
  }
  EXPECT_GT(stopped, rounds(2, 50) / 2);
}

TEST_P(Freeze, ARealHangIsFoundAfterwards) {
  const pid_t pid = start(fmt::format("run hang_kernel --enable-l2-swimlane --isolation {} "
                                      "--scheduler-timeout-ms {} --no-sync --output-prefix a",
                                      GetParam(), kLimitMs),
                          "log.txt");
  sleep_us(500'000);
  const auto processes = family(pid);
  send(processes, SIGSTOP);
  sleep_us(kLimitMs * 1300);
  send(processes, SIGCONT);
  const std::uint64_t continued_us = now_us();
  EXPECT_EQ(finish(pid), 3) << read(path("log.txt"));
  EXPECT_LT(now_us() - continued_us, kLimitMs * 1500 + 3'000'000);
  EXPECT_NE(read(path("log.txt")).find("copy_or_hang"), std::string::npos);
}

TEST_P(FreezeOfADevice, AloneIsReportedAndTheRunGoesOn) {
  const pid_t pid = start_slow();
  std::vector<pid_t> processes;
  ASSERT_TRUE(wait_until([&] { return (processes = family(pid)).size() == 3; }));
  sleep_us(100'000);
  ::kill(processes[2], SIGSTOP);
  sleep_us(kLimitMs * 2000);
  EXPECT_FALSE(wait_for(pid, 0)) << read(path("log.txt"));
  ::kill(processes[2], SIGCONT);
  EXPECT_EQ(finish(pid), 0) << read(path("log.txt"));
  const std::string log = read(path("log.txt"));
  EXPECT_NE(log.find(fmt::format("the device process {} is stopped", processes[2])),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("was continued"), std::string::npos) << log;
  EXPECT_NE(read(path("a/run.json")).find("DEVICE_STOPPED"), std::string::npos);
}

// A device that is stopped when its run is interrupted is collected from and ended all the same.
TEST_P(FreezeOfADevice, CanBeInterrupted) {
  const pid_t pid = start(
      "run synthetic_producer --rate 100000 --seconds 60 --no-sync --output-prefix a", "log.txt");
  std::vector<pid_t> processes;
  ASSERT_TRUE(wait_until([&] { return (processes = family(pid)).size() == 3; }));
  sleep_us(200'000);
  ::kill(processes[2], SIGSTOP);
  sleep_us(300'000);
  ::kill(pid, SIGINT);
  EXPECT_EQ(finish(pid), 130) << read(path("log.txt"));
  EXPECT_EQ(run("check a").exit_code, 0);
}

}  // namespace
}  // namespace tidemark
