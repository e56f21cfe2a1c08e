// SPDX-License-Identifier: Apache-2.0
// A plain copy of a unit's progress line.
#pragma once

#include <cstdint>

#include "tidemark/schema/resource.h"
#include "tidemark/schema/unit_state.h"

namespace tidemark {

// One reading of a unit's line; nothing of it is trusted.
struct UnitImage {
  std::uint64_t since_ticks;
  UnitState state;
  std::uint32_t kernel;
  std::uint64_t task_id, count;
  std::uint32_t block;
  Resource waits_for;
  std::uint32_t recorder_waiting, reserved;
  std::uint64_t recorder_since_ticks, recorder_waited_ticks, recorder_pages;
  std::uint64_t waited_before_ticks, loops;
  std::uint64_t left_since_ticks;
  UnitState left_state;
  std::uint32_t place;
  std::uint64_t site;
};

}  // namespace tidemark
