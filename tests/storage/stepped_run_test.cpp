// SPDX-License-Identifier: Apache-2.0
// A whole run whose host is killed before every system call on its files, and before stores into
// its capture: after the recovery every record that its producers counted is there. In a campaign
// every store is a moment, in the test run some of them.
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdlib>

#include "tests/storage/run_files.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/session/stale_regions.h"

namespace tidemark::storage {
namespace {

constexpr std::uint32_t kLanes = 2;
constexpr std::uint64_t kRunRecords = 45;
constexpr std::uint32_t kEndMs = 60'000;

class SteppedRun : public ::testing::Test {
 protected:
  // Two words per lane: records and frames that were accepted, counted by the producers.
  void clear_counts() {
    const std::vector<unsigned char> zeros(kLanes * 16, 0);
    samples::write_bytes(counts_, zeros);
  }
  std::uint64_t accepted(std::uint32_t lane) const {
    const auto bytes = samples::read_bytes(counts_);
    std::uint64_t count = 0;
    std::memcpy(&count, bytes.data() + lane * 16, 8);
    return count;
  }

  ProgramEnd run_killed_at(std::uint64_t step, std::uint64_t stores_apart) {
    fs::remove_all(run_);
    clear_counts();
    ::setenv("TIDEMARK_STEP_FILES", run_.c_str(), 1);
    ::setenv("TIDEMARK_STEP_KILL", std::to_string(step).c_str(), 1);
    ::setenv("TIDEMARK_STEP_STORES", std::to_string(stores_apart).c_str(), 1);
    return run_program(
        {TIDEMARK_STEPPED, "run", "synthetic_producer", "--lanes", std::to_string(kLanes),
         "--records", std::to_string(kRunRecords), "--page-bytes", "1024", "--record-bytes", "32",
         "--pool-bytes", "8192", "--accepted-counts", counts_, "--output-prefix", run_},
        log_, kEndMs);
  }

  ProgramEnd tidemark(const std::string& command) {
    return run_program({TIDEMARK_EXECUTABLE, command, run_}, log_, kEndMs);
  }

  // A region that names this run.
  bool has_region() const {
    for (const auto& region : list_regions())
      if (region.run_directory == run_) return true;
    return false;
  }

  samples::TemporaryDirectory directory_{"/dev/shm"};
  const std::string run_ = directory_.file("run");
  const std::string counts_ = directory_.file("counts");
  const std::string log_ = directory_.file("log");
};

TEST_F(SteppedRun, AKillOfTheHostBeforeAnyCallLosesNothing) {
  const std::uint64_t stores_apart = std::getenv("TIDEMARK_CAMPAIGN") != nullptr ? 1 : 10;
  std::uint64_t kills = 0, before_begin = 0, recovered_records = 0;
  for (std::uint64_t step = 0;; ++step) {
    SCOPED_TRACE(fmt::format("killed before step {}", step));
    const ProgramEnd end = run_killed_at(step, stores_apart);
    if (end.signal == 0) {  // it has no such step
      ASSERT_EQ(end.exit_code, 0);
      break;
    }
    ASSERT_EQ(end.signal, SIGKILL);
    ++kills;
    if (!fs::exists(run_ + "/run.json")) {
      ++before_begin;
      ASSERT_EQ(tidemark("recover").exit_code, 2);
      ASSERT_FALSE(has_region());
      ASSERT_EQ(accepted(0) + accepted(1), 0u) << "the device ran before there was a run.json";
      continue;
    }
    const ProgramEnd recovered = tidemark("recover");
    ASSERT_EQ(recovered.exit_code, 0) << "signal " << recovered.signal;
    ASSERT_EQ(tidemark("check").exit_code, 0);
    ASSERT_FALSE(has_region());
    const RunContent content = read_content(run_);
    ASSERT_TRUE(content.status == "recovered" || content.status == "ok") << content.status;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      // A record is counted after it was accepted: the device may be killed in between.
      const std::uint64_t found = records_of_lane(content, lane);
      ASSERT_GE(found, accepted(lane)) << "lane " << lane << " lost records";
      ASSERT_LE(found, accepted(lane) + 1) << "lane " << lane;
      recovered_records += found;
    }
    if (HasFailure()) return;
  }
  const RunContent whole = read_content(run_);
  EXPECT_EQ(whole.status, "ok");
  for (std::uint32_t lane = 0; lane < kLanes; ++lane)
    EXPECT_EQ(records_of_lane(whole, lane), kRunRecords);
  EXPECT_GE(kills, 25u);
  EXPECT_GE(before_begin, 1u);
  EXPECT_GE(recovered_records, 10 * kRunRecords) << "of kills after the launch";
  std::printf("run: %llu kills, %llu of them before it began\n",
              static_cast<unsigned long long>(kills),
              static_cast<unsigned long long>(before_begin));
}

}  // namespace
}  // namespace tidemark::storage
