// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/calibrate.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "tidemark/device/region_plan.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/recorder.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kPageBytes = 4096;
constexpr std::uint64_t kRecords = 8'000;

struct alignas(64) Line {
  unsigned char bytes[64];
};

}  // namespace

double calibrate_ns_per_record() {
  RegionRequest request;
  request.lanes = {{.overflow = Overflow::kKeepLast, .producer = "calibration"}};
  request.recorder.page_bytes = kPageBytes;
  const auto plan = plan_region(request);
  if (!plan) return 0;
  std::vector<Line> memory(plan->layout.total_bytes / sizeof(Line) + 1);
  auto* base = memory.data()->bytes;
  std::memcpy(base, &plan->identity, sizeof(plan->identity));
  std::memcpy(base + plan->layout.lane_offset(0), plan->lanes.data(), sizeof(LanePlan));
  const RegionView region(base);
  Recorder<TaskSpan, SimEnv> recorder(&region, 0);
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t begin_ns = monotonic_ns();
    for (std::uint64_t i = 0; i < kRecords; ++i)
      recorder.write({.task_id = i, .begin_ticks = i, .end_ticks = i + 1, .block = 0});
    const double ns = static_cast<double>(monotonic_ns() - begin_ns) / kRecords;
    if (round == 0 || ns < best) best = ns;
  }
  return best;
}

}  // namespace tidemark
