// SPDX-License-Identifier: Apache-2.0
// Test support: spans that carry their own number, and the reading of a page of them by its stamps.
#pragma once

#include <cstring>
#include <vector>

#include "tidemark/record/testing/region_in_memory.h"
#include "tidemark/schema/stamp.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {

inline constexpr std::uint64_t kPerPage = (1024 - kPageHeaderBytes) / TaskSpan::kBytes;

inline TaskSpan span_of(std::uint64_t number) {
  return {.task_id = number * 0x9E3779B97F4A7C15ull + 1,
          .begin_ticks = number * 3 + 1,
          .end_ticks = number * 3 + 2,
          .block = static_cast<std::uint32_t>(number * 7),
          .kernel = static_cast<std::uint16_t>(number * 11),
          .core = static_cast<std::uint16_t>(number * 13)};
}

inline bool same_span(const TaskSpan& a, const TaskSpan& b) {
  return a.task_id == b.task_id && a.begin_ticks == b.begin_ticks && a.end_ticks == b.end_ticks &&
         a.block == b.block && a.kernel == b.kernel && a.core == b.core;
}

// The spans of the page whose every quantum carries the page's generation; an absent or torn one
// ends the list.
inline std::vector<TaskSpan> spans_in(const TakenPage& page) {
  std::vector<TaskSpan> spans;
  for (std::size_t at = 0; at + TaskSpan::kBytes <= page.payload.size(); at += TaskSpan::kBytes) {
    for (std::size_t quantum = 0; quantum < TaskSpan::kBytes; quantum += kQuantumBytes) {
      Stamp stamp = 0;
      std::memcpy(&stamp, page.payload.data() + at + quantum + kStampOffset, sizeof(stamp));
      if (stamp != page.header.generation) return spans;
    }
    std::uint64_t words[TaskSpan::kBytes / 8];
    std::memcpy(words, page.payload.data() + at, sizeof(words));
    spans.push_back(TaskSpan::unpack(words, 0));
  }
  return spans;
}

}  // namespace tidemark
