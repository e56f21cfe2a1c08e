// SPDX-License-Identifier: Apache-2.0
// Tasks that may run, first come first served, for any number of pushers and takers. A cell's turn
// says whose it is: 2 × lap for the pusher, 2 × lap + 1 for the taker; zero is empty. There are as
// many cells as tasks can be live, so a push never finds it full.
#pragma once

#include <cstdint>

#include "tidemark/record/device_env.h"
#include "tidemark/runtime/device_word.h"

namespace tidemark {

struct ReadyCell {
  DeviceWord<std::uint32_t> turn;
  std::uint32_t task;  // SlotRef
};

struct alignas(64) ReadyQueueWords {
  DeviceWord<std::uint64_t> pushed;
  alignas(64) DeviceWord<std::uint64_t> taken;
};

class ReadyQueue {
 public:
  TM_DEVICE ReadyQueue(ReadyQueueWords* words, ReadyCell* cells, std::uint64_t cell_count)
      : words_(words), cells_(cells), mask_(cell_count - 1) {}

  // Once `stopped` says that the run is ending, it may return without the task in the queue.
  template <DeviceEnv Env, class Stopped>
  TM_DEVICE void push(std::uint32_t task, const Stopped& stopped) {
    const std::uint64_t position = words_->pushed.add_acq_rel(1);  // alone: only a number
    ReadyCell& cell = cells_[position & mask_];
    // The cell was emptied a lap ago; its taker may be between its claim and its last store.
    // pairs with [cell emptied]
    for (std::uint32_t round = 0; cell.turn.load_acquire() != turn_of(position); ++round) {
      if (stopped()) return;
      Env::pause(round);
    }
    cell.task = task;
    cell.turn.store_release(turn_of(position) + 1);  // [task ready]
  }

  TM_DEVICE bool take(std::uint32_t& task) {
    std::uint64_t position = words_->taken.load_relaxed();
    for (;;) {
      ReadyCell& cell = cells_[position & mask_];
      const std::uint32_t turn = cell.turn.load_acquire();  // pairs with [task ready]
      if (turn != turn_of(position) + 1) {
        const std::uint64_t now = words_->taken.load_relaxed();
        if (now == position) return false;
        position = now;
        continue;
      }
      // alone: it only decides who takes
      if (!words_->taken.replace_acq_rel(position, position + 1)) continue;
      task = cell.task;
      cell.turn.store_release(turn_of(position) + 2);  // [cell emptied]
      return true;
    }
  }

  TM_DEVICE bool empty() const { return count() == 0; }
  // A moment's figure.
  TM_DEVICE std::uint64_t count() const {
    // alone: two figures, and `pushed` is read later, so that it is not behind `taken`
    const std::uint64_t taken = words_->taken.load_acquire();
    const std::uint64_t pushed = words_->pushed.load_acquire();  // alone: as above
    return pushed > taken ? pushed - taken : 0;
  }

 private:
  TM_DEVICE std::uint32_t turn_of(std::uint64_t position) const {
    return static_cast<std::uint32_t>(position / (mask_ + 1) * 2);
  }

  ReadyQueueWords* words_;
  ReadyCell* cells_;
  std::uint64_t mask_;
};

}  // namespace tidemark
