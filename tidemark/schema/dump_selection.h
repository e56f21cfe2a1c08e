// SPDX-License-Identifier: Apache-2.0
// What of the arguments is dumped: a level, and rules that narrow it. Fixed before launch.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/base/host_device.h"
#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class DumpLevel : std::uint32_t {
  kOff = 0,
  kFull,    // everything
  kMarked,  // what the orchestration marked with dump()
  kMeta,    // metadata and scalars of everything, payload of what is marked
  kStats,   // metadata, scalars and statistics of everything, no payload
};

constexpr std::string_view to_text(DumpLevel level) {
  return enum_text(level, DumpLevel::kOff, {"off", "full", "marked", "meta", "stats"});
}

// When payload is kept, by what the statistics say.
enum class DumpWhen : std::uint32_t { kAlways = 0, kNan, kInf, kAbsMaxAbove };

inline constexpr std::uint32_t kDumpRulesMax = 6;

// One --dump-select; an argument is taken if any rule takes it.
struct DumpRule {
  std::uint64_t kernels = ~std::uint64_t{0};  // bit per kernel
  std::uint64_t first_task = 0, last_task = ~std::uint64_t{0};
  std::uint64_t args = ~std::uint64_t{0};  // bit per argument, tensors first
  std::uint32_t stages = ~0u;              // bit per DumpStage
  std::uint32_t roles = ~0u;               // bit per Access
  DumpWhen when = DumpWhen::kAlways;
  std::uint32_t reserved = 0;
  double above = 0;
};

struct DumpSelection {
  DumpLevel level = DumpLevel::kOff;
  std::uint32_t rule_count = 0;  // 0: everything the level says
  std::uint64_t max_bytes = 0;   // of one payload; 0: no limit
  std::uint64_t scratch_bytes =
      0;  // of a task's inouts, kept until it is known whether they matter
  DumpRule rules[kDumpRulesMax];

  TM_DEVICE constexpr bool on() const { return level != DumpLevel::kOff; }
  TM_DEVICE constexpr bool needs_scratch() const {
    if (!on() || level == DumpLevel::kStats || scratch_bytes == 0) return false;
    for (std::uint32_t i = 0; i < rule_count; ++i)
      if (rules[i].when != DumpWhen::kAlways) return true;
    return false;
  }
};

}  // namespace tidemark
