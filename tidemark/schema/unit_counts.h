// SPDX-License-Identifier: Apache-2.0
// The units of a device, in the order of their progress lines: orchestrator, schedulers, cores.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

struct UnitCounts {
  std::uint32_t schedulers = 1;
  std::uint32_t cores = 3;

  TM_DEVICE constexpr std::uint32_t total() const { return 1 + schedulers + cores; }
  TM_DEVICE constexpr std::uint32_t scheduler(std::uint32_t index) const { return 1 + index; }
  TM_DEVICE constexpr std::uint32_t core(std::uint32_t index) const {
    return 1 + schedulers + index;
  }
};

}  // namespace tidemark
