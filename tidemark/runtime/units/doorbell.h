// SPDX-License-Identifier: Apache-2.0
// How a unit sleeps until another one has work for it. The sleeper says so before its last look;
// whoever makes work asks afterwards: one of the two sees the other. Every sleep is timed, so that
// a stop is noticed without a ring.
//
//   sleeper: asleep = 1 ─▶ look once more ─▶ sleep while bell is unchanged
//   ringer:  make work  ─▶ asleep = 0? was 1 ─▶ change bell, wake
#pragma once

#include <cstdint>

#include "tidemark/runtime/units/unit_env.h"

namespace tidemark {

// Rounds of Env::take_turn before a unit sleeps.
template <class Env>
inline constexpr std::uint32_t kRoundsAwake = kSleeps<Env> ? 64 : ~0u;

struct alignas(64) Doorbell {
  DeviceWord<std::uint32_t> asleep;
  DeviceWord<std::uint32_t> bell;

  template <UnitEnv Env>
  TM_DEVICE void ring() {
    if constexpr (kSleeps<Env>) {
      // Everything before this is seen by whoever falls asleep after it.
      order_store_before_look_of<Env>();
      ring_behind_fence<Env>();
    }
  }
  // While nobody sleeps the word is only read: many ring one bell.
  template <UnitEnv Env>
  TM_DEVICE void ring_behind_fence() {
    if constexpr (!kSleeps<Env>) return;
    if (asleep.load_relaxed() == 0) return;
    if (asleep.exchange_acq_rel(0) == 0) return;  // alone: it only decides who wakes
    bell.add_acq_rel(1);                          // [bell rung]
    Env::wake(bell);
  }

  // One turn of a waiting loop: pauses in early rounds, then sleeps unless has_work() says so.
  template <UnitEnv Env, class HasWork>
  TM_DEVICE void wait(std::uint32_t round, const HasWork& has_work) {
    if (round < kRoundsAwake<Env>) return Env::take_turn(round);
    const std::uint32_t heard = bell.load_acquire();  // pairs with [bell rung]
    asleep.store_relaxed(1);
    order_store_before_look_of<Env>();  // or it sees the work, or the ringer sees it asleep
    const bool sleeps = !has_work();
    if (sleeps) Env::sleep(bell, heard);
    asleep.exchange_acq_rel(0);  // alone: it is awake, whoever took the 1
    if (!sleeps) Env::take_turn(round);
  }
};

}  // namespace tidemark
