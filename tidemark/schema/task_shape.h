// SPDX-License-Identifier: Apache-2.0
// How a task is dispatched: by which ready queue.
#pragma once

#include <cstdint>

namespace tidemark {

enum class TaskShape : std::uint8_t {
  kAic,
  kAiv,
  kMix,
  kDummy,  // no kernel: complete as soon as it is ready
};
inline constexpr std::uint32_t kTaskShapeCount = 4;

}  // namespace tidemark
