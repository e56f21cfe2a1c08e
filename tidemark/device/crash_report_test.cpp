// SPDX-License-Identifier: Apache-2.0
// A device process that crashes leaves behind which of its units it was, and the signal.
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tidemark/device/device.h"
#include "tidemark/device/testing/test_programs.h"
#include "tidemark/runtime/units/unit_line.h"

namespace tidemark {
namespace {

TEST(CrashReport, NamesTheUnitAndTheSignal) {
  constexpr UnitCounts kUnits{.schedulers = 2, .cores = 6};
  RegionRequest request;
  request.lanes = {{.overflow = Overflow::kKeepLast}};
  request.recorder.page_bytes = 1024;
  request.status_bytes = status_bytes(kUnits);
  request.run_id = std::uint64_t{this_process().pid} << 32 | 0xC4A5;
  const RegionPlan plan = *plan_region(request);
  ::unlink(region_path(request.run_id).c_str());
  const RegionFile region = std::move(*create_region_file(plan));
  ::unlink(region.path.c_str());
  const MappedMemory mapping = std::move(*map_region(region.fd.get(), region.path, region.bytes));
  const auto* status = static_cast<const RuntimeStatus*>(RegionView(mapping.base()).status());
  EXPECT_EQ(status->fault_signal.load_acquire(), 0u);

  const auto device = std::move(*open_device(default_platform(), 0, Isolation::kProcess));
  ASSERT_TRUE(device->launch({.program = kAbortItself, .args = {}, .region = &region}));
  const auto exit = device->wait(20'000);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->kind, DeviceExit::Kind::kSignalled);
  EXPECT_EQ(status->fault_signal.load_acquire(), static_cast<std::uint32_t>(SIGABRT));
  EXPECT_EQ(status->fault_unit.load_relaxed(), kAbortUnit);
}

}  // namespace
}  // namespace tidemark
