// SPDX-License-Identifier: Apache-2.0
// The end of a run, with each of its system calls refused in turn: either the files say that all is
// well and have everything, or the run says what is wrong and the region stays for a recovery.
#include "tests/storage/run_files.h"
#include "tests/storage/storage_steps.h"
#include "tidemark/session/recording.h"
#include "tidemark/session/stale_regions.h"

namespace tidemark::storage {
namespace {

constexpr std::uint64_t kRecords = 100;

std::string region_of(const std::string& run) {
  for (const auto& region : list_regions())
    if (region.run_directory == run) return region.path;
  return {};
}

TEST(SteppedClose, ARefusedCallKeepsTheRegionOrCostsNothing) {
  std::uint64_t refused = 0, kept = 0;
  for (const int error : {EIO, ENOSPC})
    for (std::uint64_t step = 0;; ++step) {
      samples::TemporaryDirectory directory("/dev/shm");
      const std::string run = directory.file("run");
      auto recording =
          Recording::start({.output_dir = run, .recorder = {.page_bytes = 1024}}).value();
      {
        auto lane = recording->open_lane<TaskSpan>("one").value();
        for (std::uint64_t i = 0; i < kRecords; ++i)
          ASSERT_TRUE(lane.write({.task_id = i, .begin_ticks = i, .end_ticks = i + 1}));
      }
      std::uint64_t steps = 0;
      std::string call;
      bool said_well = false;
      {
        const Watched watched({run}, [&](const Step& at) {
          if (at.call == Call::kStore || at.call == Call::kRead || steps++ != step) return Answer{};
          call = fmt::format("{} of {}", to_text(at.call), at.path);
          return Answer{.error = error};
        });
        said_well = recording->finish().has_value();
      }
      SCOPED_TRACE(fmt::format("step {}, {}", step, call));
      recording.reset();
      const std::string region = region_of(run);
      EXPECT_EQ(region.empty(), said_well);
      const RunReport report = read_run_report(run).value();
      // A directory that cannot be synced has the new run.json all the same.
      EXPECT_TRUE(report.status == RunStatus::kOk ||
                  (report.status == RunStatus::kRunning && !said_well));
      if (report.status == RunStatus::kOk) {
        const RunContent content = read_content(run);
        EXPECT_EQ(records_of_lane(content, 0), kRecords);
      }
      if (!region.empty()) fs::remove(region);
      if (HasFailure()) return;
      if (call.empty()) {
        EXPECT_TRUE(said_well);
        break;
      }
      ++refused;
      kept += said_well ? 0 : 1;
    }
  EXPECT_GE(refused, 8u);
  EXPECT_GE(kept, 4u);
  std::printf("close: %llu calls refused, %llu of them kept the region\n",
              static_cast<unsigned long long>(refused), static_cast<unsigned long long>(kept));
}

}  // namespace
}  // namespace tidemark::storage
