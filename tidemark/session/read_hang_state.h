// SPDX-License-Identifier: Apache-2.0
// Takes the state of a run that is being stopped from the region and the device's memory.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/collect/region_port.h"
#include "tidemark/device/device_memory.h"
#include "tidemark/run/hang_state.h"

namespace tidemark {

// What is there to be seen; nothing in it is trusted. Without the device's memory: no tasks.
HangState read_hang_state(const RegionPort& port, const RegionLayout& layout,
                          const RuntimeConfig& config, const DeviceMemory* memory);

// The outputs of the tasks that were running, as dump frames; each whole or cut to a stated size.
struct SnapshotLimits {
  std::uint64_t tensor_bytes = 16u << 20;
  std::uint64_t total_bytes = 64u << 20;
};
std::vector<std::vector<unsigned char>> snapshot_outputs(const HangState& state,
                                                         const RuntimeConfig& config,
                                                         const DeviceMemory& memory,
                                                         bool still_running,
                                                         const SnapshotLimits& limits = {});

}  // namespace tidemark
