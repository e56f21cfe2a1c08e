// SPDX-License-Identifier: Apache-2.0
// Whole runs that are ended while their producers write at full speed and listen to nobody: what
// was written is collected from under them, and every ledger closes.
#include "tests/promise_fixture.h"

namespace tidemark {
namespace {

class Rescue : public Promise, public testing::WithParamInterface<const char*> {
 protected:
  // Lanes that never come to their end; the launch is ended by its limit.
  std::string endless(std::uint64_t seed) const {
    // Lanes that are drained keep a run waiting for longer, so they are few.
    const std::string_view policy = seed % 40 == 3 ? "drop" : seed % 40 == 7 ? "wait" : "keep-last";
    const char* platforms[] = {"sim", "a5sim"};
    return fmt::format(
        "run synthetic_producer -p {} --isolation {} --policy {} --lanes {} --page-bytes {} {} "
        "--keep-pages {} --seconds 600 --ignore-abort --op-timeout-ms {} --no-sync "
        "--output-prefix a --force",
        platforms[seed % 2], GetParam(), policy, 1 + seed % 4, 1024u << seed % 7,
        seed % 3 == 0 ? "--frame-bytes 5000" : "", 2 + seed % 6, 50 + seed % 100);
  }
};
INSTANTIATE_TEST_SUITE_P(Isolations, Rescue, testing::Values("process", "thread"));

TEST_P(Rescue, OfProducersThatWriteAtFullSpeedClosesEveryLedger) {
  std::uint64_t rescued = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + rounds(3, 1000); ++seed) {
    SCOPED_TRACE(endless(seed));
    const Finished done = run(endless(seed));
    ASSERT_EQ(done.exit_code, 3) << done.out << done.error;
    const auto report = report_of("a");
    ASSERT_TRUE(report);
    EXPECT_EQ(report->status, RunStatus::kHang);
    EXPECT_FALSE(has_region(*report));
    EXPECT_TRUE(report->ledger_closes()) << done.out;
    EXPECT_EQ(report->recorder.corrupt_pages, 0u) << done.out;
    const Finished checked = run("check a");
    ASSERT_EQ(checked.exit_code, 0) << checked.out << checked.error;
    for (const auto& lane : report->lanes) rescued += lane.counts.recovered;
  }
  EXPECT_GT(rescued, 0u);
}

}  // namespace
}  // namespace tidemark
