// SPDX-License-Identifier: Apache-2.0
// What a producer says of itself: what it is at or waits for, since when, and where it runs. It is
// in the region, so whoever looks at a producer that went quiet finds it, from another process or
// after the producer is gone.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tidemark/schema/name.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

// Writer: the lane's producer.
template <template <class> class Word>
struct AtLineOf {
  // One quantum: whoever sees what it is at sees since when.
  alignas(16) Word<std::uint64_t> since_ticks;
  Word<std::uint64_t> what;   // 0, both: it has said nothing since it opened the lane
  Word<std::uint64_t> place;  // where it runs; 0: not known
  Word<std::uint64_t> reserved[5];
};
using AtLine = AtLineOf<SharedWord>;
using AtLineImage = AtLineOf<PlainWord>;
static_assert(sizeof(AtLine) == 64 && sizeof(AtLineImage) == 64);
static_assert(std::is_trivially_copyable_v<AtLine>);

// What it is at:
//
//   63            48 47    46                                              0
//  ┌────────────────┬─────┬─────────────────────────────────────────────────┐
//  │ name slot + 1  │waits│ number                                          │
//  └────────────────┴─────┴─────────────────────────────────────────────────┘
//
// The slot is one of the region's name table. 0: the name found no room there.
struct AtWord {
  std::uint32_t name_slot = kNoNameSlot;
  bool waits = false;  // for it, instead of doing it
  std::uint64_t number = 0;
};
inline constexpr std::uint32_t kAtSlotShift = 48;
inline constexpr std::uint64_t kAtWaits = std::uint64_t{1} << 47;
inline constexpr std::uint64_t kAtNumberMask = kAtWaits - 1;
inline constexpr std::uint32_t kAtSlotsMax = (1u << 16) - 1;

// A slot as the word has it.
TM_DEVICE constexpr std::uint64_t encode_at_slot(std::uint32_t slot) {
  return slot < kAtSlotsMax ? std::uint64_t{slot} + 1 : 0;
}
TM_DEVICE constexpr std::uint64_t encode_at(const AtWord& at) {
  return encode_at_slot(at.name_slot) << kAtSlotShift | (at.waits ? kAtWaits : 0) |
         (at.number & kAtNumberMask);
}
TM_DEVICE constexpr AtWord decode_at(std::uint64_t word) {
  const auto slot = static_cast<std::uint32_t>(word >> kAtSlotShift);
  return {.name_slot = slot == 0 ? kNoNameSlot : slot - 1,
          .waits = (word & kAtWaits) != 0,
          .number = word & kAtNumberMask};
}

// Where a thread of a GPU runs:
//
//   63   62          48 47             32 31                              0
//  ┌────┬──────────────┬─────────────────┬─────────────────────────────────┐
//  │ 1  │ warp of CTA  │ multiprocessor  │ block, counted through the grid │
//  └────┴──────────────┴─────────────────┴─────────────────────────────────┘
struct ProducerPlace {
  std::uint32_t multiprocessor = 0, block = 0, warp = 0;
};
TM_DEVICE constexpr std::uint64_t encode_place(const ProducerPlace& place) {
  return std::uint64_t{1} << 63 | std::uint64_t{place.warp & 0x7FFF} << 48 |
         std::uint64_t{place.multiprocessor & 0xFFFF} << 32 | place.block;
}
TM_DEVICE constexpr ProducerPlace decode_place(std::uint64_t word) {
  return {.multiprocessor = static_cast<std::uint32_t>(word >> 32 & 0xFFFF),
          .block = static_cast<std::uint32_t>(word),
          .warp = static_cast<std::uint32_t>(word >> 48 & 0x7FFF)};
}

}  // namespace tidemark
