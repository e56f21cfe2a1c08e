// SPDX-License-Identifier: Apache-2.0
// The begin or the end of a scope: where, when, the heads and tails of its ring, and, at its end,
// the realised peaks inside it, inner scopes included, for all rings.
#pragma once

#include <cstdint>

#include "tidemark/schema/field.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/schema/ticks48.h"

namespace tidemark {

// Heads and tails of one ring; they only grow.
struct RingMarks {
  std::uint64_t task_tail = 0, task_head = 0;
  std::uint64_t heap_tail = 0, heap_head = 0;  // bytes
  std::uint64_t dep_tail = 0, dep_head = 0;
  std::uint64_t fanin_tail = 0, fanin_head = 0;
};

// The most that was in use at once.
struct ScopePeaks {
  std::uint64_t heap_bytes[kRingCount] = {};
  std::uint32_t tasks[kRingCount] = {};
  std::uint32_t deps[kRingCount] = {};
  std::uint32_t fanin[kRingCount] = {};
  std::uint32_t map_entries = 0;
  std::uint64_t heap_request[kRingCount] = {};  // the largest single one, in bytes
  std::uint64_t args_bytes[kRingCount] = {};
};

template <class T>
TM_DEVICE constexpr void raise(T& peak, const T& value) {
  if (value > peak) peak = value;
}
TM_DEVICE constexpr void raise(ScopePeaks& outer, const ScopePeaks& inner) {
  for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
    raise(outer.tasks[ring], inner.tasks[ring]);
    raise(outer.heap_bytes[ring], inner.heap_bytes[ring]);
    raise(outer.deps[ring], inner.deps[ring]);
    raise(outer.fanin[ring], inner.fanin[ring]);
    raise(outer.heap_request[ring], inner.heap_request[ring]);
    raise(outer.args_bytes[ring], inner.args_bytes[ring]);
  }
  raise(outer.map_entries, inner.map_entries);
}

struct ScopeBoundary {
  static constexpr StreamId kStream = StreamId::kScopes;
  static constexpr std::uint32_t kBytes = 288;

  enum class Phase : std::uint8_t { kBegin = 1, kEnd = 2 };

  std::uint64_t file = 0;  // hash of a name
  std::uint64_t time_ticks = 0;
  std::uint32_t line = 0;
  std::uint32_t serial = 0;  // which of all scopes, from 1
  std::uint16_t depth = 0;
  std::uint8_t ring = 0;
  Phase phase = Phase::kBegin;
  std::uint32_t map_entries = 0;
  RingMarks marks;   // of its ring
  ScopePeaks peaks;  // at a begin: what was in use

  TM_DEVICE void pack(std::uint64_t* words) const {
    const std::uint64_t mask = kTicks48Mask;
    words[0] = file;
    words[1] = time_ticks & mask;
    words[2] =
        line | std::uint64_t{depth} << 32 | std::uint64_t{ring} << 48 | stored_bits(phase) << 56;
    words[3] = serial;
    words[4] = marks.heap_tail;
    words[5] = marks.task_tail & mask;
    words[6] = marks.heap_head;
    words[7] = marks.task_head & mask;
    words[8] = marks.dep_tail;
    words[9] = marks.fanin_tail & mask;
    words[10] = marks.dep_head;
    words[11] = marks.fanin_head & mask;
    words[12] = map_entries | std::uint64_t{peaks.map_entries} << 32;
    words[13] = 0;
    for (std::uint32_t i = 0; i < kRingCount; ++i) {
      words[14 + 2 * i] = peaks.heap_bytes[i];
      words[15 + 2 * i] = peaks.tasks[i];
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      words[22 + 2 * i] = peaks.deps[2 * i] | std::uint64_t{peaks.deps[2 * i + 1]} << 32;
      words[23 + 2 * i] = peaks.fanin[2 * i];
    }
    words[26] = peaks.fanin[1] | std::uint64_t{peaks.fanin[3]} << 32;
    words[27] = 0;
    for (std::uint32_t i = 0; i < kRingCount; ++i) {
      words[28 + i] = peaks.heap_request[i] & mask;
      words[32 + i] = peaks.args_bytes[i] & mask;
    }
  }
  TM_DEVICE static ScopeBoundary unpack(const std::uint64_t* words, std::uint64_t near_ticks) {
    ScopeBoundary made;
    const std::uint64_t mask = kTicks48Mask;
    made.file = words[0];
    made.time_ticks = full_ticks(words[1], near_ticks);
    made.line = static_cast<std::uint32_t>(words[2]);
    made.depth = static_cast<std::uint16_t>(words[2] >> 32);
    made.ring = static_cast<std::uint8_t>(words[2] >> 48);
    made.phase = static_cast<Phase>(words[2] >> 56);
    made.serial = static_cast<std::uint32_t>(words[3]);
    made.marks = {.task_tail = words[5] & mask,
                  .task_head = words[7] & mask,
                  .heap_tail = words[4],
                  .heap_head = words[6],
                  .dep_tail = words[8],
                  .dep_head = words[10],
                  .fanin_tail = words[9] & mask,
                  .fanin_head = words[11] & mask};
    made.map_entries = static_cast<std::uint32_t>(words[12]);
    made.peaks.map_entries = static_cast<std::uint32_t>(words[12] >> 32);
    for (std::uint32_t i = 0; i < kRingCount; ++i) {
      made.peaks.heap_bytes[i] = words[14 + 2 * i];
      made.peaks.tasks[i] = static_cast<std::uint32_t>(words[15 + 2 * i]);
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      made.peaks.deps[2 * i] = static_cast<std::uint32_t>(words[22 + 2 * i]);
      made.peaks.deps[2 * i + 1] = static_cast<std::uint32_t>(words[22 + 2 * i] >> 32);
      made.peaks.fanin[2 * i] = static_cast<std::uint32_t>(words[23 + 2 * i]);
    }
    made.peaks.fanin[1] = static_cast<std::uint32_t>(words[26]);
    made.peaks.fanin[3] = static_cast<std::uint32_t>(words[26] >> 32);
    for (std::uint32_t i = 0; i < kRingCount; ++i) {
      made.peaks.heap_request[i] = words[28 + i] & mask;
      made.peaks.args_bytes[i] = words[32 + i] & mask;
    }
    return made;
  }
};

inline constexpr Field kScopeFields[] = {
    {"file", FieldType::kHash64, 0},
    {"time", FieldType::kTicks48, 8},
    {"line", FieldType::kU32, 16},
    {"depth", FieldType::kU16, 20},
    {"ring", FieldType::kU8, 22},
    {"phase", FieldType::kU8, 23},
    {"serial", FieldType::kU32, 24},
    {"heap_tail", FieldType::kU64, 32},
    {"task_tail", FieldType::kU48, 40},
    {"heap_head", FieldType::kU64, 48},
    {"task_head", FieldType::kU48, 56},
    {"dep_tail", FieldType::kU64, 64},
    {"fanin_tail", FieldType::kU48, 72},
    {"dep_head", FieldType::kU64, 80},
    {"fanin_head", FieldType::kU48, 88},
    {"map_entries", FieldType::kU32, 96},
    {"map_entries_peak", FieldType::kU32, 100},
    {"heap_peak_0", FieldType::kU64, 112},
    {"tasks_peak_0", FieldType::kU32, 120},
    {"heap_peak_1", FieldType::kU64, 128},
    {"tasks_peak_1", FieldType::kU32, 136},
    {"heap_peak_2", FieldType::kU64, 144},
    {"tasks_peak_2", FieldType::kU32, 152},
    {"heap_peak_3", FieldType::kU64, 160},
    {"tasks_peak_3", FieldType::kU32, 168},
    {"deps_peak_0", FieldType::kU32, 176},
    {"deps_peak_1", FieldType::kU32, 180},
    {"fanin_peak_0", FieldType::kU32, 184},
    {"deps_peak_2", FieldType::kU32, 192},
    {"deps_peak_3", FieldType::kU32, 196},
    {"fanin_peak_2", FieldType::kU32, 200},
    {"fanin_peak_1", FieldType::kU32, 208},
    {"fanin_peak_3", FieldType::kU32, 212},
    {"heap_request_0", FieldType::kU48, 224},
    {"heap_request_1", FieldType::kU48, 232},
    {"heap_request_2", FieldType::kU48, 240},
    {"heap_request_3", FieldType::kU48, 248},
    {"args_peak_0", FieldType::kU48, 256},
    {"args_peak_1", FieldType::kU48, 264},
    {"args_peak_2", FieldType::kU48, 272},
    {"args_peak_3", FieldType::kU48, 280},
};
inline constexpr RecordKind kScopeKinds[] = {{"boundary", kScopeFields}};

}  // namespace tidemark
