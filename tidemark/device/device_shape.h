// SPDX-License-Identifier: Apache-2.0
// What a device says of itself before its launch is planned, where only it can know: how many units
// of a program's kernel it holds at the same time.
#pragma once

#include <cstdint>

#include "tidemark/transport/clock_sample.h"

namespace tidemark {

inline constexpr std::uint32_t kDeviceNameBytes = 128;
inline constexpr std::uint32_t kShapeErrorBytes = 256;

// Goes from the device process to the host as it is.
struct DeviceShape {
  std::uint32_t cluster_count = 0;
  std::uint32_t scheduler_count = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t resident_ctas = 0;
  ClockSample clock;  // a first reading, for what the host records before the launch
  char device_name[kDeviceNameBytes] = {};
  char error[kShapeErrorBytes] = {};  // empty: none
};

}  // namespace tidemark
