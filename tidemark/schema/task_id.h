// SPDX-License-Identifier: Apache-2.0
// A task's identity: its ring and its number within the ring.
//
//   63              34 33 32 31                                 0
//  │ lap              │ ring │ local: the number's low 32 bits   │
//
// The lap counts how often the low bits began anew: ids repeat after 2^62 tasks of a ring. Of the
// first lap they are what they always were. A graph that is run again and again counts its
// iterations there.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

struct TaskId {
  std::uint64_t value = 0;

  TM_DEVICE static constexpr TaskId make(std::uint32_t ring, std::uint64_t number) {
    return {number >> 32 << 34 | std::uint64_t{ring} << 32 | (number & 0xFFFFFFFFu)};
  }
  TM_DEVICE constexpr std::uint32_t ring() const {
    return static_cast<std::uint32_t>(value >> 32 & 3);
  }
  TM_DEVICE constexpr std::uint32_t local() const { return static_cast<std::uint32_t>(value); }
  TM_DEVICE constexpr std::uint64_t lap() const { return value >> 34; }
  // The same task in the first lap, or iteration.
  TM_DEVICE constexpr TaskId without_lap() const { return {value & 0x3FFFFFFFFu}; }
  // The same task in the next iteration of its graph.
  TM_DEVICE constexpr TaskId next_lap() const { return {value + (std::uint64_t{1} << 34)}; }
  TM_DEVICE constexpr bool operator==(const TaskId& other) const { return value == other.value; }
};
static_assert(sizeof(TaskId) == 8);

}  // namespace tidemark
