// SPDX-License-Identifier: Apache-2.0
// Programs are found by name; their context gives arguments, units and the wish to stop.
#include "tidemark/device/program.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/device/testing/test_programs.h"
#include "tidemark/record/testing/region_in_memory.h"

namespace tidemark {
namespace {

RegionInMemory small_region() {
  return RegionInMemory(
      {.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, Overflow::kDrop, 32)}});
}

TEST(Program, IsFoundByItsNameOnly) {
  EXPECT_NE(find_device_program(kWriteSpans), nullptr);
  EXPECT_EQ(find_device_program("write-spans "), nullptr);
  EXPECT_EQ(find_device_program(""), nullptr);
}

TEST(Program, GetsItsArgumentsByteForByte) {
  RegionInMemory region = small_region();
  const WriteSpansArgs args{.units = 7, .count = 99};
  DeviceContext context(region.view(), std::as_bytes(std::span(&args, 1)));
  EXPECT_EQ(context.args<WriteSpansArgs>().units, 7u);
  EXPECT_EQ(context.args<WriteSpansArgs>().count, 99u);
}

TEST(ProgramDeathTest, ArgumentsOfAnotherSizeAreABug) {
  RegionInMemory region = small_region();
  DeviceContext context(region.view(), {});
  EXPECT_EXIT((void)context.args<WriteSpansArgs>(), testing::KilledBySignal(SIGABRT), "sizeof");
}

TEST(Program, StopsOnAbortAndOnADeadHost) {
  RegionInMemory region = small_region();
  DeviceContext context(region.view(), {});
  EXPECT_FALSE(context.stop_requested());
  region.header().host.abort.store_release(1);
  EXPECT_TRUE(context.stop_requested());
  region.header().host.abort.store_release(0);
  region.header().device.host_gone.store_release(1);
  EXPECT_TRUE(context.stop_requested());
}

TEST(Program, RunsEveryUnitOnceAndWaitsForAll) {
  RegionInMemory region = small_region();
  DeviceContext context(region.view(), {});
  std::vector<std::atomic<int>> runs(16);
  context.run_units(16, [&](std::uint32_t unit) { runs[unit].fetch_add(1); });
  for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
}

}  // namespace
}  // namespace tidemark
