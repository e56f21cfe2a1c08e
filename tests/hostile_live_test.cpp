// SPDX-License-Identifier: Apache-2.0
// Another process stores random words into the region of a run that is going on: lanes, counters,
// rings, status, pages, before and after the device is launched. However the run ends, its host
// ends by itself and says how, and whoever looks at it meanwhile gets an answer.
#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <random>

#include "tests/hang_fixture.h"
#include "tidemark/base/testing/seed_range.h"
#include "tidemark/device/region_file.h"
#include "tidemark/transport/region.h"

namespace tidemark {
namespace {

class HostileLive : public HangFixture {
 protected:
  // The region's file once the run has one; not valid: the run was over before.
  UniqueFd open_region(pid_t host) {
    while (!end_) {
      if (const auto report = read_run_report(path("r")); report && report->run_id != 0)
        if (UniqueFd fd(::open(region_path(report->run_id).c_str(), O_RDWR | O_CLOEXEC));
            fd.valid())
          return fd;
      end_ = wait_for(host, 0);
    }
    return {};
  }

  static bool is_launched(int region) {
    std::uint64_t ticks = 0;
    const auto at = offsetof(RegionHeader, device) + offsetof(RegionDeviceWords, launch_ticks);
    return ::pread(region, &ticks, sizeof(ticks), static_cast<off_t>(at)) == sizeof(ticks) &&
           ticks != 0;
  }

  // Half of them as soon as there is a region, the others when the device runs.
  void scribble(int region, pid_t host, std::uint64_t words, std::mt19937_64& random) {
    const auto bytes = static_cast<std::uint64_t>(::lseek(region, 0, SEEK_END));
    for (std::uint64_t i = 0; i < words; ++i) {
      while (i >= words / 2 && !end_ && !is_launched(region)) end_ = wait_for(host, 0);
      if (end_) return;
      launched_words_ += i >= words / 2;
      // Behind the header, half of it in the tables in front of the pages.
      const std::uint64_t most =
          random() % 2 == 0 ? std::min<std::uint64_t>(bytes, 400'000) : bytes;
      const std::uint64_t at = kRegionHeaderBytes + random() % (most - kRegionHeaderBytes) / 8 * 8;
      const std::uint64_t word = random() % 3 == 0 ? ~std::uint64_t{0} : random();
      EXPECT_EQ(::pwrite(region, &word, 8, static_cast<off_t>(at)), 8);
      ++words_;
    }
  }

  // Whatever the words are: an answer that can be read, or a refusal.
  void look_by_top() {
    for (int i = 0; i < 3 && !end_; ++i) {
      const Finished look = run("top r --once --json");
      EXPECT_TRUE(look.exit_code == 0 || look.exit_code == 2) << look.exit_code << look.error;
      if (look.exit_code != 0) continue;
      if (look.out.starts_with("{"))
        EXPECT_TRUE(parse(look.out).IsObject()) << look.out;
      else
        EXPECT_NE(look.out.find("the run has ended"), std::string::npos) << look.out;
      looks_ += look.out.starts_with("{");
    }
  }

  // The exit code is the one of run.json, and follows from the status.
  void judge_end() {
    ASSERT_EQ(end_->signal, 0) << read(path("log.txt"));
    const auto report = read_run_report(path("r"));
    ASSERT_TRUE(report) << report.error().message;
    const std::string_view status = to_text(report->status);
    ++ends_[fmt::format("{} {}", end_->exit_code, status)];
    EXPECT_EQ(end_->exit_code, report->exit_code) << status;
    const bool lost = status == "hang" || status == "device_fault" || status == "fatal";
    const bool sound = report->ledger_closes() && report->recorder.corrupt_pages == 0;
    const bool right = lost             ? end_->exit_code == 3
                       : status != "ok" ? false
                       : sound          ? end_->exit_code == 0 || end_->exit_code == 4
                                        : end_->exit_code == 4;
    EXPECT_TRUE(right) << "left with " << end_->exit_code << ", status " << status << "\n"
                       << read(path("log.txt"));
    EXPECT_FALSE(fs::exists(region_path(report->run_id)));
  }

  std::optional<ProgramEnd> end_;
  std::uint64_t words_ = 0, launched_words_ = 0, looks_ = 0;
  std::map<std::string, int> ends_;
};

TEST_F(HostileLive, RandomWordsInARunningRegionNeverTakeTheHostDown) {
  std::size_t scribbled = 0;
  const std::uint64_t rounds = seed_range(24, 9).count();
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const char* platforms[] = {"sim", "a2a3sim", "a5sim"};
    const char* programs[] = {"paged_attention", "bgemm", "mixed_example"};
    fs::remove_all(path("r"));
    end_.reset();
    const pid_t host =
        start(fmt::format("run {} -p {} {} --dump-tensor --page-bytes 4096 --inject drain_slow=300 "
                          "--scheduler-timeout-ms 800 --drain-timeout-ms 800 --op-timeout-ms 6000 "
                          "--output-prefix r",
                          programs[random() % 3], platforms[random() % 3], kAllStreams),
              TIDEMARK_EXECUTABLE);
    const std::uint64_t words = std::uint64_t{1} << seed % 9;  // once a run: up to 256
    if (const UniqueFd region = open_region(host); region.valid()) {
      ++scribbled;
      scribble(region.get(), host, words, random);
      if (seed % 3 == 0) look_by_top();
    }
    if (!end_) end_ = wait_for(host, kPatienceMs);
    if (!end_) ::kill(host, SIGKILL);
    ASSERT_TRUE(end_) << "the host does not end";
    judge_end();
    if (HasFailure()) return;
  }
  EXPECT_EQ(scribbled, rounds) << "a run was over before anybody could write into its region";
  EXPECT_GT(words_, rounds * 41);
  EXPECT_GT(launched_words_, rounds * 12 + 8);
  EXPECT_GE(looks_, rounds / 8);
  for (const auto& [end, count] : ends_) RecordProperty("ends_" + end, count);
}

}  // namespace
}  // namespace tidemark
