// SPDX-License-Identifier: Apache-2.0
// What the units that serve the workers do with their time. A scheduler writes one record per phase
// of its loop that did something; the orchestrator writes one per submit. Both have one shape, and
// carry the occupancy seen at their end: that is what counter tracks are drawn from.
#pragma once

#include <cstdint>

#include "tidemark/schema/field.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/schema/ticks48.h"

namespace tidemark {

enum class PhaseKind : std::uint8_t {
  kComplete = 1,  // scheduler: takes the answers of its cores
  kDispatch = 2,  // scheduler: gives ready tasks to them
  kSubmit = 3,    // orchestrator
};

struct SchedulerPhase {
  static constexpr StreamId kStream = StreamId::kPhases;
  static constexpr std::uint32_t kBytes = 48;

  PhaseKind kind = PhaseKind::kComplete;
  std::uint64_t begin_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint64_t loop = 0;       // round of the scheduler's loop
  std::uint32_t processed = 0;  // (block, kernel) pairs
  std::uint32_t pop_hit = 0;    // tasks taken from the ready queues
  std::uint32_t pop_miss = 0;   // looks at empty ones since the last record
  std::uint32_t ready = 0;      // tasks left in the ready queues

  TM_DEVICE void pack(std::uint64_t* words) const {
    words[0] = loop;
    words[1] = begin_ticks & kTicks48Mask;
    words[2] = processed | std::uint64_t{pop_hit} << 32;
    words[3] = end_ticks & kTicks48Mask;
    words[4] = pop_miss | std::uint64_t{ready} << 32;
    words[5] = stored_bits(kind);
  }
  TM_DEVICE static SchedulerPhase unpack(const std::uint64_t* words, std::uint64_t near_ticks) {
    const std::uint64_t end_ticks = full_ticks(words[3], near_ticks);
    return {.kind = static_cast<PhaseKind>(words[5] & 0xFF),
            .begin_ticks = ticks_before(words[1], end_ticks),
            .end_ticks = end_ticks,
            .loop = words[0],
            .processed = static_cast<std::uint32_t>(words[2]),
            .pop_hit = static_cast<std::uint32_t>(words[2] >> 32),
            .pop_miss = static_cast<std::uint32_t>(words[4]),
            .ready = static_cast<std::uint32_t>(words[4] >> 32)};
  }
};

struct SubmitSpan {
  static constexpr StreamId kStream = StreamId::kPhases;
  static constexpr std::uint32_t kBytes = 48;

  std::uint64_t task_id = 0;
  std::uint64_t begin_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint64_t index = 0;       // of all submits
  std::uint64_t heap_bytes = 0;  // used of the task's ring
  std::uint32_t live_tasks = 0;  // of the task's ring

  TM_DEVICE void pack(std::uint64_t* words) const {
    words[0] = task_id;
    words[1] = begin_ticks & kTicks48Mask;
    words[2] = index;
    words[3] = end_ticks & kTicks48Mask;
    words[4] = heap_bytes;
    words[5] = stored_bits(PhaseKind::kSubmit) | std::uint64_t{live_tasks} << 8;
  }
  TM_DEVICE static SubmitSpan unpack(const std::uint64_t* words, std::uint64_t near_ticks) {
    const std::uint64_t end_ticks = full_ticks(words[3], near_ticks);
    return {.task_id = words[0],
            .begin_ticks = ticks_before(words[1], end_ticks),
            .end_ticks = end_ticks,
            .index = words[2],
            .heap_bytes = words[4],
            .live_tasks = static_cast<std::uint32_t>(words[5] >> 8)};
  }
};
static_assert(SchedulerPhase::kBytes == SubmitSpan::kBytes);

TM_DEVICE constexpr PhaseKind phase_kind(const std::uint64_t* words) {
  return static_cast<PhaseKind>(words[5] & 0xFF);
}

inline constexpr Field kPhaseKind{"kind", FieldType::kU8, 40};

inline constexpr Field kSchedulerPhaseFields[] = {
    {"loop", FieldType::kU64, 0},       {"begin", FieldType::kTicks48, 8},
    {"processed", FieldType::kU32, 16}, {"pop_hit", FieldType::kU32, 20},
    {"end", FieldType::kTicks48, 24},   {"pop_miss", FieldType::kU32, 32},
    {"ready", FieldType::kU32, 36},     kPhaseKind,
};
inline constexpr Field kSubmitFields[] = {
    {"task_id", FieldType::kU64, 0},     {"begin", FieldType::kTicks48, 8},
    {"index", FieldType::kU64, 16},      {"end", FieldType::kTicks48, 24},
    {"heap_bytes", FieldType::kU64, 32}, kPhaseKind,
    {"live_tasks", FieldType::kU32, 41},
};
inline constexpr RecordKind kPhaseKinds[] = {
    {"complete", kSchedulerPhaseFields, {kPhaseKind, stored_bits(PhaseKind::kComplete)}},
    {"dispatch", kSchedulerPhaseFields, {kPhaseKind, stored_bits(PhaseKind::kDispatch)}},
    {"submit", kSubmitFields, {kPhaseKind, stored_bits(PhaseKind::kSubmit)}},
};

}  // namespace tidemark
