// SPDX-License-Identifier: Apache-2.0
// A user's own mark or counter, by name. The name is a hash here and a text in the region's name
// table.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/schema/enum_text.h"
#include "tidemark/schema/field.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/schema/ticks48.h"

namespace tidemark {

enum class EventKind : std::uint16_t { kMark = 1, kCounter = 2 };

constexpr std::string_view to_text(EventKind kind) {
  return enum_text(kind, EventKind::kMark, {"mark", "counter"});
}

struct UserEvent {
  static constexpr StreamId kStream = StreamId::kEvents;
  static constexpr std::uint32_t kBytes = 32;

  std::uint64_t name_hash = 0;
  std::uint64_t time_ticks = 0;
  std::int64_t value = 0;
  EventKind kind = EventKind::kMark;
  std::uint16_t unit = 0;

  TM_DEVICE TM_INLINE void pack(std::uint64_t* words) const {
    words[0] = name_hash;
    words[1] = time_ticks & kTicks48Mask;
    words[2] = static_cast<std::uint64_t>(value);
    words[3] = stored_bits(kind) | std::uint64_t{unit} << 16;
  }
  TM_DEVICE static UserEvent unpack(const std::uint64_t* words, std::uint64_t near_ticks) {
    return {.name_hash = words[0],
            .time_ticks = full_ticks(words[1], near_ticks),
            .value = static_cast<std::int64_t>(words[2]),
            .kind = static_cast<EventKind>(words[3] & 0xFFFF),
            .unit = static_cast<std::uint16_t>(words[3] >> 16)};
  }
};

inline constexpr Field kUserEventFields[] = {
    {"name", FieldType::kHash64, 0}, {"time", FieldType::kTicks48, 8},
    {"value", FieldType::kI64, 16},  {"kind", FieldType::kU16, 24},
    {"unit", FieldType::kU16, 26},
};
inline constexpr RecordKind kUserEventKinds[] = {{"event", kUserEventFields}};

}  // namespace tidemark
