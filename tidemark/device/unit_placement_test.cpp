// SPDX-License-Identifier: Apache-2.0
// How many units fit into the CTAs that a GPU holds, and that every CTA is one unit's.
#include "tidemark/device/cuda/unit_placement.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(UnitPlacement, AnH200HoldsFortyThreeClusters) {
  const UnitPlan plan = plan_units(132);
  EXPECT_EQ(plan.clusters, 43u);
  EXPECT_EQ(plan.schedulers, 8u);
}

TEST(UnitPlacement, ThePlanFitsAndLeavesNoRoomForAnotherCluster) {
  for (std::uint32_t resident = 5; resident < 2000; ++resident) {
    const UnitPlan plan = plan_units(resident);
    const auto ctas = [&](std::uint32_t clusters) {
      return ctas_of({.schedulers = plan.schedulers, .cores = clusters * kCoresPerCluster});
    };
    EXPECT_GE(plan.clusters, 1u);
    EXPECT_GE(plan.schedulers, 1u);
    EXPECT_LE(plan.schedulers, plan.clusters);
    EXPECT_LE(ctas(plan.clusters), resident);
    EXPECT_GT(ctas(plan.clusters + 1), resident);
  }
}

TEST(UnitPlacement, TooFewAreSaid) {
  for (std::uint32_t resident = 0; resident < 5; ++resident)
    EXPECT_EQ(plan_units(resident).clusters, 0u) << resident;
}

TEST(UnitPlacement, SchedulersHaveAWarpEach) {
  EXPECT_EQ(scheduler_ctas(1), 1u);
  EXPECT_EQ(scheduler_ctas(kSchedulersPerCta), 1u);
  EXPECT_EQ(scheduler_ctas(kSchedulersPerCta + 1), 2u);
}

TEST(UnitPlacement, EveryUnitIsFoundWhereItIs) {
  for (const std::uint32_t schedulers : {1u, 3u, kSchedulersPerCta, kSchedulersPerCta + 3}) {
    const UnitCounts units{.schedulers = schedulers, .cores = 9};
    for (std::uint32_t unit = 0; unit < units.total(); ++unit) {
      const UnitPlace place = place_of(units, unit);
      EXPECT_LT(place.cta, ctas_of(units));
      EXPECT_EQ(unit_at(units, place), unit);
      EXPECT_EQ(unit_at(units, {place.cta, place.thread + 31}), unit) << "any thread of its warp";
    }
    EXPECT_EQ(unit_at(units, {ctas_of(units), 0}), units.total()) << "no CTA of the kernel";
    EXPECT_EQ(place_of(units, units.core(0)).cta, 1 + scheduler_ctas(schedulers));
  }
  EXPECT_EQ(unit_at({.schedulers = 3, .cores = 9}, {1, 3 * 32}), 13u) << "a warp without a unit";
}

}  // namespace
}  // namespace tidemark
