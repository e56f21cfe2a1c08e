// SPDX-License-Identifier: Apache-2.0
// The threads that are one scheduler: one on a simulated device, the lanes of a warp on a GPU. All
// of them go through every round together. What only one may do the first one does, and tells the
// others what came of it; what is done for each core or task is done by a lane for each.
//
//   first lane:  decides ─┐                 ┌─ next decision
//   all lanes:            └─ a core each ───┘
//
// What a scheduler remembers is in memory of all its lanes. A lane writes what is of its cores,
// the first one all else, and they meet before another one reads it.
#pragma once

#include <cstdint>

#include "tidemark/runtime/units/unit_env.h"

namespace tidemark {

struct SoloLanes {
  static constexpr std::uint32_t kCount = 1;
  TM_DEVICE static constexpr std::uint32_t lane() { return 0; }
  // All of them, of which the caller is the first one.
  template <class Call>
  static void run(const Call& call) {
    call();
  }
  // What the others wrote before is seen after it.
  TM_DEVICE static constexpr void meet() {}
  // Bit per lane: it says so. All lanes come to this, and to all that follow.
  TM_DEVICE static constexpr std::uint32_t ballot(bool says) { return says ? 1 : 0; }
  TM_DEVICE static constexpr std::uint64_t of_first(std::uint64_t value) { return value; }
  TM_DEVICE static constexpr std::uint64_t of_lane(std::uint64_t value, std::uint32_t) {
    return value;
  }
  TM_DEVICE static constexpr std::uint32_t least(std::uint32_t value) { return value; }
  TM_DEVICE static constexpr std::uint32_t sum(std::uint32_t value) { return value; }
  TM_DEVICE static constexpr std::uint32_t common(std::uint32_t bits) { return bits; }
  TM_DEVICE static constexpr std::uint64_t united(std::uint64_t bits) { return bits; }
};

// An Env whose schedulers have several threads says so with Env::Lanes.
namespace lanes_detail {
template <class Env>
struct Of {
  using Type = SoloLanes;
};
template <class Env>
requires requires { typename Env::Lanes; }
struct Of<Env> {
  using Type = typename Env::Lanes;
};
}  // namespace lanes_detail
template <class Env>
using LanesOf = typename lanes_detail::Of<Env>::Type;

// The first lane does this, when all have read what it may change.
template <class Lanes, class Call>
TM_DEVICE TM_INLINE void by_first(const Call& call) {
  Lanes::meet();
  if (Lanes::lane() == 0) call();
  Lanes::meet();
}
// The first lane does this, and all learn what it returns: at most 64 bits of a number.
template <class Lanes, class Call>
TM_DEVICE TM_INLINE auto first_says(const Call& call) {
  using Said = decltype(call());
  if constexpr (Lanes::kCount == 1) {
    return call();
  } else {
    std::uint64_t said = 0;
    by_first<Lanes>([&] { said = static_cast<std::uint64_t>(call()); });
    return static_cast<Said>(Lanes::of_first(said));
  }
}
// Those of the lanes do this, one after the other.
template <class Lanes, class Call>
TM_DEVICE TM_INLINE void in_turn(std::uint32_t lanes, const Call& call) {
  for (; lanes != 0; lanes &= lanes - 1) {
    if (Lanes::lane() == lowest_bit(lanes)) call();
    Lanes::meet();
  }
}
// How many of the lanes are before this one.
template <class Lanes>
TM_DEVICE TM_INLINE std::uint32_t rank_among(std::uint32_t lanes) {
  return count_bits(lanes & ((1u << Lanes::lane()) - 1));
}

}  // namespace tidemark
