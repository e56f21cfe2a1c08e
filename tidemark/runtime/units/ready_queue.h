// SPDX-License-Identifier: Apache-2.0
// Tasks that may run, first come first served, for any number of pushers and takers. The first one
// is looked at before it is taken, and a task of several blocks is taken block by block: it stays
// the first one until its last block is taken. A cell's turn says whose it is: 2 × lap for the
// pusher, 2 × lap + 1 for the takers; zero is empty. There are as many cells as tasks can be live,
// so a push never finds it full.
#pragma once

#include <cstdint>

#include "tidemark/record/device_env.h"
#include "tidemark/runtime/device_word.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {

struct ReadyCell {
  // Bits 31-0 the turn, 62-32 the blocks that are left, 63 whether they start together.
  DeviceWord<std::uint64_t> turn;
  DeviceWord<std::uint32_t> task;  // SlotRef
  DeviceWord<std::uint32_t> needs;
};
static_assert(sizeof(ReadyCell) == 16);

struct alignas(64) ReadyQueueWords {
  DeviceWord<std::uint64_t> pushed;
  alignas(64) DeviceWord<std::uint64_t> taken;
};

// A task that waits, and what whoever takes it must know before.
struct ReadyTask {
  std::uint32_t task = 0;  // SlotRef
  std::uint32_t blocks = 1;
  std::uint32_t parts = 0;  // bit p: it has a kernel for core p of a cluster
  bool together = false;    // its blocks must run at the same time
  // Of a task of one block and one kernel: whoever gives it to a core need not look at its slot.
  std::uint16_t kernel = kNoKernel;
};

// The first task of a queue, as it was when it was looked at.
struct ReadyHead {
  std::uint64_t position = 0;
  ReadyTask ready;  // with the blocks that are left
};

class ReadyQueue {
 public:
  TM_DEVICE ReadyQueue(ReadyQueueWords* words, ReadyCell* cells, std::uint64_t cell_count)
      : ReadyQueue(words, cells, cell_count, bits_of(cell_count)) {}
  // bits: bits_of(cell_count).
  TM_DEVICE ReadyQueue(ReadyQueueWords* words, ReadyCell* cells, std::uint64_t cell_count,
                       std::uint32_t bits)
      : words_(words), cells_(cells), mask_(cell_count - 1), bits_(bits) {}
  TM_DEVICE static constexpr std::uint32_t bits_of(std::uint64_t cell_count) {
    std::uint32_t bits = 0;
    while (std::uint64_t{1} << bits < cell_count) ++bits;
    return bits;
  }

  // Once `stopped` says that the run is ending, it may return without the task in the queue.
  template <DeviceEnv Env, class Stopped>
  TM_DEVICE void push(const ReadyTask& ready, const Stopped& stopped) {
    const std::uint64_t position = words_->pushed.add_relaxed(1);  // only a number
    ReadyCell& cell = cells_[position & mask_];
    // The cell was emptied a lap ago; its taker may be between its claim and its last store.
    // pairs with [cell emptied]
    for (std::uint32_t round = 0; cell.turn.load_acquire() != turn_of(position); ++round) {
      if (stopped()) return;
      Env::pause(round);
    }
    cell.task.store_relaxed(ready.task);
    cell.needs.store_relaxed(needs_of(ready));
    cell.turn.store_release(turn_with(ready, position));  // [task ready]
  }
  template <DeviceEnv Env, class Stopped>
  TM_DEVICE void push(std::uint32_t task, const Stopped& stopped) {
    push<Env>(ReadyTask{.task = task}, stopped);
  }

  // False: there is none. `from`: a position that was the first one once. As long as its cell waits
  // for its task, nothing is in the queue, and nothing else is read.
  TM_DEVICE bool peek(ReadyHead& head, std::uint64_t& from) const {
    if (still_empty(cell_turn(from), from)) return false;
    const bool any = peek(head);
    from = any ? head.position : words_->taken.load_relaxed();
    return any;
  }
  TM_DEVICE std::uint64_t cell_turn(std::uint64_t position) const {
    return turn_word(position).load_relaxed();
  }
  TM_DEVICE const DeviceWord<std::uint64_t>& turn_word(std::uint64_t position) const {
    return cells_[position & mask_].turn;
  }
  TM_DEVICE const DeviceWord<std::uint64_t>& taken_word() const { return words_->taken; }
  TM_DEVICE const DeviceWord<std::uint64_t>& pushed_word() const { return words_->pushed; }
  TM_DEVICE bool still_empty(std::uint64_t turn, std::uint64_t position) const {
    return static_cast<std::uint32_t>(turn) == turn_of(position);
  }
  TM_DEVICE bool peek(ReadyHead& head) const {
    for (std::uint64_t position = words_->taken.load_relaxed();;) {
      const ReadyCell& cell = cells_[position & mask_];
      if (static_cast<std::uint32_t>(cell.turn.load_relaxed()) == turn_of(position) + 1) {
        // pairs with [task ready] and [block taken]
        const std::uint64_t turn = cell.turn.load_acquire();
        if (static_cast<std::uint32_t>(turn) != turn_of(position) + 1) continue;
        // If it is not the first one any more, these are of another one, and a take fails.
        head = {.position = position, .ready = ready_in(cell, turn)};
        return true;
      }
      const std::uint64_t now = words_->taken.load_relaxed();
      if (now == position) return false;
      position = now;
    }
  }

  // One block of the task that was looked at: the one with `head.ready.blocks` left. False:
  // somebody else took it.
  TM_DEVICE bool take(const ReadyHead& head) {
    if (!claim(head, 1)) return false;
    if (head.ready.blocks == 1) leave(head.position);
    return true;
  }
  // The task that was looked at and those behind it, up to `most` (kBatchMost), as far as they are
  // tasks of one block; or of a task of more blocks so many, but for its last one. One claim for
  // all of them. Returns how many; 0: somebody else took some.
  TM_DEVICE std::uint32_t take_batch(const ReadyHead& head, std::uint32_t most, ReadyTask* tasks) {
    std::uint32_t count = 0;
    if (head.ready.blocks > 1) {
      for (; count < most && count + 1 < head.ready.blocks; ++count) {
        tasks[count] = head.ready;
        tasks[count].blocks -= count;
      }
      return claim(head, count) ? count : 0;
    }
    tasks[count++] = head.ready;
    while (count < most && may_join(head.position, count, tasks[count])) ++count;
    if (!claim(head, count)) return 0;
    for (std::uint32_t i = 0; i < count; ++i) leave(head.position + i);
    return count;
  }
  // The parts of it. So many places behind the first one there is a task of one block.
  TM_DEVICE bool may_join(std::uint64_t first, std::uint32_t place, ReadyTask& task) const {
    return place <= mask_ && look_at(first + place, task) && task.blocks == 1 && !task.together;
  }
  // False: nothing is at this place, or not any more.
  TM_DEVICE bool look_at(std::uint64_t position, ReadyTask& task) const {
    const ReadyCell& cell = cells_[position & mask_];
    // pairs with [task ready] and [block taken]
    const std::uint64_t turn = cell.turn.load_acquire();
    if (static_cast<std::uint32_t>(turn) != turn_of(position) + 1) return false;
    task = ready_in(cell, turn);
    return true;
  }
  // The same of its blocks alone, without an acquire, which would leave others more time to claim
  // it first: who has claimed a task of one block looks at it then.
  TM_DEVICE bool glance_at(std::uint64_t position, ReadyTask& task) const {
    const std::uint64_t turn = cell_turn(position);
    task.blocks = blocks_in(turn);
    task.together = together_in(turn);
    return static_cast<std::uint32_t>(turn) == turn_of(position) + 1;
  }
  // Tasks of one block, each of which leaves its cell then; or blocks of one.
  TM_DEVICE bool claim(const ReadyHead& head, std::uint32_t count) {
    if (head.ready.blocks > 1) {
      std::uint64_t seen = turn_with(head.ready, head.position);
      return cells_[head.position & mask_].turn.replace_acq_rel(
          seen, seen - (std::uint64_t{count} << 32));  // [block taken]
    }
    std::uint64_t position = head.position;
    return words_->taken.replace_relaxed(position, position + count);  // it only decides who takes
  }
  // Blocks of the task that was looked at, up to `most` and but for its last one, however many
  // others take meanwhile. Returns how many, above them those that were left before; 0: none is
  // left.
  TM_DEVICE std::uint64_t claim_blocks(const ReadyHead& head, std::uint32_t most) {
    if (head.ready.blocks < 2) return 0;
    for (std::uint64_t seen = turn_with(head.ready, head.position);;) {
      const std::uint32_t left = blocks_in(seen);
      if (static_cast<std::uint32_t>(seen) != turn_of(head.position) + 1 || left < 2) return 0;
      const std::uint32_t count = most < left ? most : left - 1;
      if (cells_[head.position & mask_].turn.replace_acq_rel(
              seen, seen - (std::uint64_t{count} << 32)))  // [block taken]
        return std::uint64_t{left} << 32 | count;
    }
  }
  TM_DEVICE void leave(std::uint64_t position) {
    cells_[position & mask_].turn.store_release(
        std::uint32_t{turn_of(position) + 2});  // [cell emptied]
  }
  // Of tasks of one block.
  TM_DEVICE bool take(std::uint32_t& task) {
    for (ReadyHead head; peek(head);)
      if (take(head)) {
        task = head.ready.task;
        return true;
      }
    return false;
  }

  static constexpr std::uint32_t kBatchMost = 16;

  TM_DEVICE bool empty() const { return count() == 0; }
  // A moment's figure. A task counts until its last block is taken.
  TM_DEVICE std::uint64_t count() const {
    // alone: two figures, and `pushed` is read later, so that it is not behind `taken`
    const std::uint64_t taken = words_->taken.load_acquire();
    const std::uint64_t pushed = words_->pushed.load_acquire();  // alone: as above
    return pushed > taken ? pushed - taken : 0;
  }
  // Tasks so far.
  TM_DEVICE std::uint64_t pushed() const { return words_->pushed.load_relaxed(); }
  TM_DEVICE std::uint64_t taken() const { return words_->taken.load_relaxed(); }

 private:
  //   31 ─ 24   23 ─ 8    2 ─ 0
  //      0      kernel    parts
  static constexpr std::uint32_t kKernelShift = 8;
  static constexpr std::uint32_t kPartsMask = (1u << kKernelsMax) - 1;

  TM_DEVICE static std::uint32_t needs_of(const ReadyTask& ready) {
    return ready.parts | std::uint32_t{ready.kernel} << kKernelShift;
  }
  TM_DEVICE static ReadyTask ready_in(const ReadyCell& cell, std::uint64_t turn) {
    const std::uint32_t needs = cell.needs.load_relaxed();
    return {.task = cell.task.load_relaxed(),
            .blocks = blocks_in(turn),
            .parts = needs & kPartsMask,
            .together = together_in(turn),
            .kernel = static_cast<std::uint16_t>(needs >> kKernelShift)};
  }
  TM_DEVICE std::uint64_t turn_with(const ReadyTask& ready, std::uint64_t position) const {
    return std::uint64_t{ready.together} << 63 | std::uint64_t{ready.blocks} << 32 |
           (turn_of(position) + 1);
  }
  TM_DEVICE static std::uint32_t blocks_in(std::uint64_t turn) {
    return static_cast<std::uint32_t>(turn >> 32) & ~(1u << 31);
  }
  TM_DEVICE static bool together_in(std::uint64_t turn) { return turn >> 63 != 0; }
  TM_DEVICE std::uint32_t turn_of(std::uint64_t position) const {
    return static_cast<std::uint32_t>((position >> bits_) * 2);
  }

  ReadyQueueWords* words_;
  ReadyCell* cells_;
  std::uint64_t mask_;
  std::uint32_t bits_;
};

}  // namespace tidemark
