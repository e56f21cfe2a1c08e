// SPDX-License-Identifier: Apache-2.0
// How a task is dispatched: by which ready queue.
#pragma once

#include <cstdint>

#include "tidemark/schema/core_type.h"

namespace tidemark {

enum class TaskShape : std::uint8_t {
  kAic,
  kAiv,
  kMix,
  kDummy,  // no kernel: complete as soon as it is ready
};
inline constexpr std::uint32_t kTaskShapeCount = 4;

// Of a task of one kernel for cores of this type.
TM_DEVICE constexpr TaskShape shape_of(CoreType type) {
  return type == CoreType::kAic ? TaskShape::kAic : TaskShape::kAiv;
}

}  // namespace tidemark
