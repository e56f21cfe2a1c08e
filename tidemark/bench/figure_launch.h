// SPDX-License-Identifier: Apache-2.0
// A program on the GPU that records nothing: its region is for the figures it leaves.
#pragma once

#include <cstdint>

#include "tidemark/base/expected.h"
#include "tidemark/base/mapped_memory.h"
#include "tidemark/device/device.h"
#include "tidemark/device/region_file.h"

namespace tidemark::bench {

class FigureLaunch {
 public:
  static Expected<FigureLaunch> create(std::uint64_t ticks_per_second);

  // Waits for its end, but not for ever.
  Expected<void> run(Device& device, LaunchRequest launch);
  [[nodiscard]] double figure(std::uint32_t index) const;

 private:
  RegionFile file_;
  MappedMemory mapping_;
};

}  // namespace tidemark::bench
