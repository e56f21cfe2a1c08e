// SPDX-License-Identifier: Apache-2.0
// What a unit of the runtime asks of its device, besides what the recorder does: how it waits for
// other units, and sleeps until one wakes it. An Env of a test may also hear of what only a race
// would show: Env::fences() of every fence between a store and a look, Env::gives() of every
// dispatch. An Env without them pays for none.
#pragma once

#include <concepts>
#include <cstdint>

#include "tidemark/record/device_env.h"
#include "tidemark/runtime/device_word.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

template <class Env>
concept UnitEnv = DeviceEnv<Env> && requires(std::uint32_t round, DeviceWord<std::uint32_t>& word) {
  { Env::ordered_ticks() } -> std::same_as<std::uint64_t>;  // not before what the unit has seen
  Env::take_turn(round);                                    // the other one may want the processor
  Env::wait_for_space(round);                               // nobody wakes it
  Env::sleep(word, round);  // until the word is woken or is not `round` any more, or for a while
  Env::wake(word);
};

// An Env whose units never sleep says so with Env::kNeverSleeps: then nobody rings.
template <class Env>
inline constexpr bool kSleeps = !requires {
  Env::kNeverSleeps;
};

// How many words a unit reads before it looks at the first of them. A thread of a GPU waits a third
// of a microsecond for a word of another multiprocessor, and no longer for sixteen.
template <class Env>
inline constexpr std::uint32_t kLoadsTogether = 1;
template <class Env>
requires requires { Env::kLoadsTogether; }
inline constexpr std::uint32_t kLoadsTogether<Env> = Env::kLoadsTogether;

template <UnitEnv Env>
TM_DEVICE TM_INLINE void order_store_before_look_of() {
  if constexpr (requires { Env::fences(); }) Env::fences();
  order_store_before_look();
}

}  // namespace tidemark
