// SPDX-License-Identifier: Apache-2.0
// The region's name table: {hash, text}, filled by whoever uses a name first. A slot is claimed by
// compare-exchange on its hash (the one word with several possible writers); the claimer alone
// writes the text and then the length. A full table loses the text, never the record.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"
#include "tidemark/schema/name.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

inline constexpr std::uint32_t kNameTextBytes = 112;

struct NameSlot {
  SharedWord<std::uint64_t> hash;    // 0: free
  SharedWord<std::uint64_t> length;  // 0 until the text is whole; cut at kNameTextBytes
  SharedWord<std::uint64_t> text[kNameTextBytes / 8];
};
static_assert(sizeof(NameSlot) == 128);

class NameTable {
 public:
  NameTable() = default;
  TM_DEVICE NameTable(NameSlot* slots, std::uint32_t slot_count)
      : slots_(slots), slot_count_(slot_count) {}

  // True if the name is in the table when this returns; false: every slot has another name.
  TM_DEVICE bool intern(std::uint64_t hash, const char* text, std::uint32_t length) {
    return place_of(hash, text, length) != kNoNameSlot;
  }

  // The same; returns the slot that has the name.
  TM_DEVICE std::uint32_t place_of(std::uint64_t hash, const char* text, std::uint32_t length) {
    for (std::uint32_t probe = 0; probe < slot_count_; ++probe) {
      const auto place = static_cast<std::uint32_t>((hash + probe) & (slot_count_ - 1));
      NameSlot& slot = slots_[place];
      std::uint64_t seen = slot.hash.load_acquire();  // alone: only the hash itself is looked at
      if (seen == hash) return place;
      if (seen != 0) continue;
      // alone: it only decides who writes the text; [name whole] publishes that
      if (slot.hash.claim_acq_rel(seen, hash)) {
        write_text(slot, text, length);
        return place;
      }
      if (seen == hash) return place;
    }
    return kNoNameSlot;
  }

 private:
  TM_DEVICE static void write_text(NameSlot& slot, const char* text, std::uint32_t length) {
    const std::uint32_t kept = length < kNameTextBytes ? length : kNameTextBytes;
    for (std::uint32_t word = 0; word * 8 < kept; ++word) {
      std::uint64_t packed = 0;
      for (std::uint32_t i = 0; i < 8 && word * 8 + i < kept; ++i)
        packed |= std::uint64_t{static_cast<unsigned char>(text[word * 8 + i])} << (8 * i);
      slot.text[word].store_relaxed(packed);
    }
    slot.length.store_release(kept);  // [name whole]
  }

  NameSlot* slots_ = nullptr;
  std::uint32_t slot_count_ = 0;
};

}  // namespace tidemark
