// SPDX-License-Identifier: Apache-2.0
// How a producer says what it is at: one store of a quantum. The place of a name in the region's
// table is looked up once; on a GPU the table is in host memory, and a look there takes a
// microsecond.
#pragma once

#include <cstdint>

#include "tidemark/record/device_env.h"
#include "tidemark/schema/name.h"
#include "tidemark/transport/region.h"

namespace tidemark {

template <DeviceEnv Env>
class AtSpeaker {
 public:
  AtSpeaker() = default;  // says nothing

  TM_DEVICE void begin(AtLine* line) {
    line_ = line;
    line->place.store_relaxed(place());
    // [producer at]
    pair_store_release(line->since_ticks, 0, line->what, 0);
  }
  TM_DEVICE void end() {
    line_ = nullptr;
    forget_names();
  }

  TM_DEVICE TM_INLINE void say(const RegionView* region, const Name& name, std::uint64_t number,
                               bool waits) {
    std::uint64_t known = known_[name.hash % kKnownMax];
    AtLine* line = line_;
    if (!is_of(known, name)) [[unlikely]] {
      known = look_up(region, name);
      if (known == 0) return;
      line = line_;
    }
    // [producer at]
    pair_store_release(line->since_ticks, Env::now_ticks(), line->what,
                       known << kAtSlotShift | (waits ? kAtWaits : 0) | (number & kAtNumberMask));
  }

 private:
  static constexpr std::uint32_t kKnownMax = 8;
  static constexpr std::uint32_t kSlotBits = 16;
  static constexpr std::uint64_t kSlotMask = (1u << kSlotBits) - 1;
  static constexpr std::uint64_t kKnownBit = 1u << kSlotBits;  // 0 is no name's

  TM_DEVICE TM_INLINE static bool is_of(std::uint64_t known, const Name& name) {
    return (known ^ (name.hash | kKnownBit)) >> kSlotBits == 0;
  }

  TM_DEVICE static std::uint64_t place() {
    if constexpr (requires { Env::place(); }) {
      return Env::place();
    } else {
      return 0;
    }
  }

  // 0: nobody listens. A name that finds every place here taken by others is looked up each time.
  TM_DEVICE TM_NOINLINE std::uint64_t look_up(const RegionView* region, const Name& name) {
    if (line_ == nullptr) return 0;
    const auto first = static_cast<std::uint32_t>(name.hash % kKnownMax);
    std::uint32_t place = first;
    for (std::uint32_t probe = 0; probe < kKnownMax; ++probe) {
      const std::uint32_t at = (first + probe) % kKnownMax;
      if (is_of(known_[at], name)) return known_[at];
      if (known_[at] == 0) {
        place = at;
        break;
      }
    }
    const std::uint32_t slot = region->names().place_of(name.hash, name.text, name.length);
    return known_[place] = (name.hash & ~kSlotMask) | kKnownBit | encode_at_slot(slot);
  }
  TM_DEVICE void forget_names() {
    for (std::uint64_t& known : known_) known = 0;
  }

  AtLine* line_ = nullptr;
  // The upper bits of a name's hash, below them its slot as the word has it. All 0 where there is
  // no line: what is said then takes the slow way, and ends there.
  std::uint64_t known_[kKnownMax] = {};
};

}  // namespace tidemark
