// SPDX-License-Identifier: Apache-2.0
// Which CTA of the persistent kernel is which unit: the first one is the orchestrator, then come
// the schedulers, one warp each, and then the cores, one CTA each. Plain numbers for both sides.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"
#include "tidemark/schema/core_type.h"
#include "tidemark/schema/unit_counts.h"

namespace tidemark {

inline constexpr std::uint32_t kUnitThreads = 256;  // of every CTA
inline constexpr std::uint32_t kSchedulersPerCta = kUnitThreads / 32;

TM_DEVICE constexpr std::uint32_t scheduler_ctas(std::uint32_t schedulers) {
  return (schedulers + kSchedulersPerCta - 1) / kSchedulersPerCta;
}
TM_DEVICE constexpr std::uint32_t ctas_of(const UnitCounts& units) {
  return 1 + scheduler_ctas(units.schedulers) + units.cores;
}

// Where a unit is: the CTA, and its first thread.
struct UnitPlace {
  std::uint32_t cta = 0, thread = 0;
};
constexpr UnitPlace place_of(const UnitCounts& units, std::uint32_t unit) {
  if (unit == 0) return {};
  if (unit > units.schedulers) return {unit - units.core(0) + 1 + scheduler_ctas(units.schedulers)};
  const std::uint32_t index = unit - units.scheduler(0);
  return {1 + index / kSchedulersPerCta, index % kSchedulersPerCta * 32};
}
// The unit of a thread; units.total(): it is none's.
constexpr std::uint32_t unit_at(const UnitCounts& units, const UnitPlace& place) {
  const std::uint32_t first_core = 1 + scheduler_ctas(units.schedulers);
  if (place.cta == 0) return 0;
  if (place.cta >= first_core)
    return place.cta - first_core < units.cores ? units.core(place.cta - first_core)
                                                : units.total();
  const std::uint32_t index = (place.cta - 1) * kSchedulersPerCta + place.thread / 32;
  return index < units.schedulers ? units.scheduler(index) : units.total();
}

struct UnitPlan {
  std::uint32_t clusters = 0;  // 0: there is no room for a single one
  std::uint32_t schedulers = 0;
};
// As many units as fit into so many CTAs that are there at the same time.
constexpr UnitPlan plan_units(std::uint32_t resident_ctas) {
  const std::uint32_t others = 2;  // the orchestrator's CTA and that of the schedulers
  if (resident_ctas < others + kCoresPerCluster) return {};
  const std::uint32_t clusters = (resident_ctas - others) / kCoresPerCluster;
  return {clusters, clusters < kSchedulersPerCta ? clusters : kSchedulersPerCta};
}

}  // namespace tidemark
