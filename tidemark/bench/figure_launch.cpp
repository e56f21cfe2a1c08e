// SPDX-License-Identifier: Apache-2.0

#include "tidemark/bench/figure_launch.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/device/region_plan.h"
#include "tidemark/session/active_run.h"

namespace tidemark::bench {
namespace {

constexpr std::uint32_t kSecondsLost = 120;  // then it does not end at all

}  // namespace

Expected<FigureLaunch> FigureLaunch::create(std::uint64_t ticks_per_second) {
  FigureLaunch made;
  RegionRequest request;
  request.spare_lanes = 1;
  request.recorder.pool_bytes = request.recorder.page_bytes;
  request.ticks_per_second = ticks_per_second;
  request.run_id = make_run_id();
  TM_TRY(const auto plan, plan_region(request));
  TM_TRY(made.file_, create_region_file(plan));
  TM_TRY(made.mapping_, map_region(made.file_.fd.get(), made.file_.path, made.file_.bytes));
  ::unlink(made.file_.path.c_str());
  return made;
}
Expected<void> FigureLaunch::run(Device& device, LaunchRequest launch) {
  launch.region = &file_;
  TM_TRY_DO(device.launch(launch));
  const std::uint64_t end_ns = monotonic_ns() + kSecondsLost * 1'000'000'000ull;
  std::optional<DeviceExit> exit;
  while (!exit && monotonic_ns() < end_ns) exit = device.wait(100);
  if (exit && exit->is_well()) return {};
  if (!exit) {
    device.reset();
    return failure(ErrorKind::kDevice, "the bench has not ended after {} s", kSecondsLost);
  }
  const RegionHeader& header = RegionView(mapping_.base()).header();
  const std::uint32_t bytes =
      header.device.fault_bytes.load_acquire();  // pairs with [fault written]
  return failure(ErrorKind::kDevice, "the bench ended on the device: {}",
                 bytes > 0 ? std::string(header.fault_text, std::min(bytes, kFaultTextBytes))
                           : fmt::format("exit {}", exit->code));
}
double FigureLaunch::figure(std::uint32_t index) const {
  // alone: one word, and its writer is gone
  return std::bit_cast<double>(
      RegionView(mapping_.base()).header().device.figures[index].load_acquire());
}

}  // namespace tidemark::bench
