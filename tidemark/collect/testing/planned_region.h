// SPDX-License-Identifier: Apache-2.0
// Test support: a region in plain memory as plan_region plans it, with the host's port to it.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "tidemark/base/check.h"
#include "tidemark/collect/region_port.h"
#include "tidemark/device/region_plan.h"

namespace tidemark {

class PlannedRegion {
 public:
  explicit PlannedRegion(const RegionRequest& request) {
    auto planned = plan_region(request);
    TM_CHECK(planned.has_value());
    plan_ = std::move(*planned);
    const std::uint64_t bytes = plan_.layout.total_bytes;
    memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(4096, bytes)));
    std::memset(memory_.get(), 0, bytes);
    std::memcpy(memory_.get(), &plan_.identity, sizeof(plan_.identity));
    for (LaneIndex lane = 0; lane < plan_.lanes.size(); ++lane)
      std::memcpy(memory_.get() + plan_.layout.lane_offset(lane), &plan_.lanes[lane],
                  sizeof(LanePlan));
    view_ = RegionView(memory_.get());
    port_ = RegionPort::over_memory(this->bytes());
  }

  [[nodiscard]] const RegionPlan& plan() const { return plan_; }
  [[nodiscard]] const RegionView& view() const { return view_; }
  [[nodiscard]] RegionPort& port() { return port_; }
  [[nodiscard]] std::span<unsigned char> bytes() const {
    return {memory_.get(), plan_.layout.total_bytes};
  }

 private:
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  RegionPlan plan_;
  std::unique_ptr<unsigned char[], Free> memory_;
  RegionView view_;
  RegionPort port_;
};

}  // namespace tidemark
