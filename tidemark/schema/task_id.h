// SPDX-License-Identifier: Apache-2.0
// A task's identity: its ring and its number within the ring.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

struct TaskId {
  std::uint64_t value = 0;

  TM_DEVICE static constexpr TaskId make(std::uint32_t ring, std::uint32_t local) {
    return {std::uint64_t{ring} << 32 | local};
  }
  TM_DEVICE constexpr std::uint32_t ring() const { return static_cast<std::uint32_t>(value >> 32); }
  TM_DEVICE constexpr std::uint32_t local() const { return static_cast<std::uint32_t>(value); }
  TM_DEVICE constexpr bool operator==(const TaskId& other) const { return value == other.value; }
};
static_assert(sizeof(TaskId) == 8);

}  // namespace tidemark
