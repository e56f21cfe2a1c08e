// SPDX-License-Identifier: Apache-2.0
// Test support: what programs at the edge of the runtime's memory have in common.
#pragma once

#include <gtest/gtest.h>

#include "tests/small_workload.h"

namespace tidemark::small {

inline constexpr Site kScopeSite{"program.cpp", 70};
inline constexpr Site kInnerSite{"program.cpp", 80};
inline constexpr Site kSubmitSite{"program.cpp", 90};

inline void expect_all_left(RuntimeStatus& status, const RuntimeConfig& config) {
  for (std::uint32_t unit = 0; unit < config.units().total(); ++unit)
    EXPECT_EQ(unit_lines(&status)[unit].state.load_acquire(), UnitState::kLeft) << "unit " << unit;
}

inline void expect_error(RuntimeStatus& status, ErrorCode code, Resource resource,
                         std::uint32_t ring, std::uint64_t used, std::uint64_t capacity) {
  const LatchedError& error = status.error;
  EXPECT_EQ(to_text(error.code.load_acquire()), to_text(code));
  EXPECT_EQ(to_text(error.resource.load_relaxed()), to_text(resource));
  EXPECT_EQ(error.ring.load_relaxed(), ring);
  EXPECT_EQ(error.used.load_relaxed(), used);
  EXPECT_EQ(error.capacity.load_relaxed(), capacity);
  EXPECT_STREQ(error.submit_file, kSubmitSite.file);
  EXPECT_EQ(error.submit_line.load_relaxed(), kSubmitSite.line);
}

}  // namespace tidemark::small
