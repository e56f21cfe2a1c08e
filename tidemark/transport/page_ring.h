// SPDX-License-Identifier: Apache-2.0
// A ring of page indices with one sender and one receiver. Each side counts positions for itself;
// a slot proves by its own content that it is the one for a position. So there is no shared
// counter to wait for, and a slot that is read or written in pieces (positional reads and writes
// of the copied transport) is not yet valid instead of wrong.
//
// The sender never overtakes: the page exchange keeps at most slot_count pages with a lane.
#pragma once

#include <cstdint>

#include "tidemark/base/mix.h"
#include "tidemark/transport/page.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

// A slot:
//
//   63                            32 31                             0
//  ┌────────────────────────────────┬────────────────────────────────┐
//  │ tag = mix32(position + 1 +     │ page index                     │
//  │       spread of the index)     │                                │
//  └────────────────────────────────┴────────────────────────────────┘
//
// Low half: the page index. High half: the position and a spread of the index, mixed. For one index
// every position within 2^32 gives another word, so a slot of an earlier lap never matches; a
// mixture of the bytes of two slots matches once in 2^32, which is why the sum is mixed: tags of
// neighbouring laps must not differ in one byte alone. A zero slot matches nothing before use.
TM_DEVICE constexpr std::uint64_t encode_slot(PageIndex page, std::uint64_t position) {
  const auto spread = static_cast<std::uint32_t>(mix(page) >> 32);
  const std::uint32_t tag = mix32(static_cast<std::uint32_t>(position + 1) + spread);
  return std::uint64_t{tag} << 32 | page;
}

// The page sent at `position`, or kNoPageIndex while it is not there.
TM_DEVICE constexpr PageIndex decode_slot(std::uint64_t slot, std::uint64_t position) {
  const auto page = static_cast<PageIndex>(slot);
  return encode_slot(page, position) == slot ? page : kNoPageIndex;
}

class PageRing {
 public:
  PageRing() = default;
  TM_DEVICE PageRing(SharedWord<std::uint64_t>* slots, std::uint32_t slot_count)
      : slots_(slots), mask_(slot_count - 1) {}

  TM_DEVICE void send(std::uint64_t position, PageIndex page) {
    slots_[position & mask_].store_release(encode_slot(page, position));  // [page sent]
  }
  TM_DEVICE PageIndex receive(std::uint64_t position) const {
    // pairs with [page sent] of a producer and [page handed] of the host
    const auto slot = slots_[position & mask_].load_acquire();
    return decode_slot(slot, position);
  }

 private:
  SharedWord<std::uint64_t>* slots_ = nullptr;
  std::uint32_t mask_ = 0;
};

}  // namespace tidemark
