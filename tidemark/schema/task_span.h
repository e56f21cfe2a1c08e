// SPDX-License-Identifier: Apache-2.0
// One execution of one block of a task on one core. A worker lane writes begin and end of the
// kernel; a scheduler lane writes dispatch and finish of the same block in the same shape.
#pragma once

#include <cstdint>

#include "tidemark/schema/field.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/schema/ticks48.h"

namespace tidemark {

struct TaskSpan {
  static constexpr StreamId kStream = StreamId::kSwimlane;
  static constexpr std::uint32_t kBytes = 32;

  std::uint64_t task_id = 0;
  std::uint64_t begin_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint32_t block = 0;
  std::uint16_t kernel = 0;
  std::uint16_t core = 0;

  // The stored form. The top 16 bits of every odd word are left to the stamp.
  TM_DEVICE TM_INLINE void pack(std::uint64_t* words) const {
    words[0] = task_id;
    words[1] = begin_ticks & kTicks48Mask;
    words[2] = block | std::uint64_t{kernel} << 32 | std::uint64_t{core} << 48;
    words[3] = end_ticks & kTicks48Mask;
  }
  TM_DEVICE static TaskSpan unpack(const std::uint64_t* words, std::uint64_t near_ticks) {
    const std::uint64_t end_ticks = full_ticks(words[3], near_ticks);
    return {.task_id = words[0],
            .begin_ticks = ticks_before(words[1], end_ticks),
            .end_ticks = end_ticks,
            .block = static_cast<std::uint32_t>(words[2]),
            .kernel = static_cast<std::uint16_t>(words[2] >> 32),
            .core = static_cast<std::uint16_t>(words[2] >> 48)};
  }
};

inline constexpr Field kTaskSpanFields[] = {
    {"task_id", FieldType::kU64, 0}, {"begin", FieldType::kTicks48, 8},
    {"block", FieldType::kU32, 16},  {"kernel", FieldType::kU16, 20},
    {"core", FieldType::kU16, 22},   {"end", FieldType::kTicks48, 24},
};
inline constexpr RecordKind kTaskSpanKinds[] = {{"span", kTaskSpanFields}};

}  // namespace tidemark
