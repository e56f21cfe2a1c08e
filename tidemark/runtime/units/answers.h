// SPDX-License-Identifier: Apache-2.0
// What the cores of a scheduler have finished, one after the other. Each lane of the scheduler has
// some of the cores.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/own_cores.h"

namespace tidemark {

struct Answer {
  std::uint32_t core = 0;
  std::uint64_t ticks = 0;  // when it was seen, where that is recorded
  Dispatch done{};
};

template <UnitEnv Env>
class Answers {
  using Lanes = LanesOf<Env>;
  using Cores = OwnCores<Env>;

 public:
  // looked: cores' look(), where there is a lane for each core.
  TM_DEVICE Answers(const RuntimeMemory& memory, Cores& cores, bool timed, std::uint64_t looked)
      : memory_(memory),
        cores_(cores),
        timed_(timed),
        next_(cores.first() + Lanes::lane() * Cores::kTogether) {
    if constexpr (Lanes::kCount == 1) return;
    from_ = next_;
    bits_ = cores.has_finished(looked) ? 1 : 0;
    next_ += Lanes::kCount;
  }

  // False: this lane has no more.
  TM_DEVICE bool next(Answer& answer) {
    for (;;) {
      while (token_ < finished_) {
        const std::uint64_t token = token_;
        const DispatchCell& cell = memory_.dispatch(core_, token);
        const DispatchClaim::Fate fate = memory_.mailbox(core_).fate(token, cell);
        if (fate == DispatchClaim::Fate::kMoving) break;  // not copied out yet
        ++token_;
        idle_ |= cores_.handle(core_);
        any_ = true;
        if (fate == DispatchClaim::Fate::kMoved) continue;
        answer = {core_, ticks_, cell.dispatch};
        return true;
      }
      if (!next_core()) return false;
    }
  }

  // Something was finished, or moved away: so far, by this lane.
  TM_DEVICE bool any() const { return any_; }
  // Bit per core of the scheduler: it has nothing to do any more.
  TM_DEVICE std::uint64_t idle() const { return idle_; }

 private:
  TM_DEVICE bool next_core() {
    while (bits_ == 0) {
      if (next_ >= cores_.last()) return false;
      from_ = next_;
      bits_ = cores_.answered(from_);
      next_ += Lanes::kCount * Cores::kTogether;
    }
    core_ = from_ + lowest_bit(bits_);
    bits_ &= bits_ - 1;
    token_ = cores_.handled(core_);
    finished_ = memory_.mailbox(core_).finished.load_acquire();  // pairs with [finished]
    ticks_ = timed_ ? Env::ordered_ticks() : 0;
    return true;
  }

  const RuntimeMemory& memory_;
  Cores& cores_;
  bool timed_;
  bool any_ = false;
  std::uint32_t next_, from_ = 0, bits_ = 0;  // of those looked at together, which have answered
  std::uint32_t core_ = 0;
  std::uint64_t token_ = 0, finished_ = 0, ticks_ = 0;
  std::uint64_t idle_ = 0;
};

}  // namespace tidemark
