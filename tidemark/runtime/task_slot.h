// SPDX-License-Identifier: Apache-2.0
// One live task: what it is, who must finish before it, and who waits for it. Fields are grouped by
// their writer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tidemark/base/quanta.h"
#include "tidemark/runtime/device_word.h"
#include "tidemark/runtime/tensor/tensor_view.h"
#include "tidemark/schema/access.h"
#include "tidemark/schema/dtype.h"
#include "tidemark/schema/task_id.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/schema/task_shape.h"

namespace tidemark {

inline constexpr std::uint32_t kFaninInline = 32;

// A slot by its ring and place: 2 + 29 bits. In a fanin list the top bit says whether the consumer
// uses memory of the producer.
struct SlotRef {
  std::uint32_t value = 0;

  static constexpr std::uint32_t kPlaceBits = 29;
  static constexpr std::uint32_t kRetainsBit = 1u << 31;
  TM_DEVICE static constexpr SlotRef make(std::uint32_t ring, std::uint32_t place) {
    return {ring << kPlaceBits | place};
  }
  TM_DEVICE constexpr std::uint32_t ring() const { return value >> kPlaceBits & 3; }
  TM_DEVICE constexpr std::uint32_t place() const { return value & ((1u << kPlaceBits) - 1); }
};

enum class TaskState : std::uint32_t { kPending, kCompleted };

inline constexpr std::uint32_t kNoEntry = ~0u;  // of a dependency list or the tensor map
inline constexpr std::uint32_t kListClosed =
    ~0u - 1;  // the task is complete: nobody waits any more

struct alignas(64) TaskSlot {
  // Writer: orchestrator, before the task is released. Constant until it is reclaimed.
  TaskId id;
  // Orchestrator only: what it looks at of a producer, with the id in 32 bytes.
  std::uint64_t noted_by;     // the submit that has this task among its producers, see Noted
  std::uint32_t fanin_place;  // in the list of that submit
  std::uint32_t told_arg;     // the last argument for which the edge was reported
  std::uint32_t linked;    // what it last made of `waiters`, which only a completion changes, too
  std::uint32_t retained;  // consumers of its memory

  // As the id.
  std::uint32_t block_count;
  TaskShape shape;
  std::uint8_t sync_start;
  std::uint16_t kernels[kKernelsMax];
  std::uint16_t tensor_count;
  std::uint16_t scalar_count;
  std::uint64_t args_offset;
  std::uint32_t fanin_count;
  std::uint32_t fanin_spill;  // place of the first entry beyond the inline ones

  std::uint64_t info_offset;  // tensors that raw words mean, where the program says so
  std::uint64_t dump_marks;   // bit per argument, tensors first: dump() was said of it
  std::uint16_t info_count;
  std::uint8_t raw_words;  // its arguments are words; what they mean only the program knows
  std::uint32_t submit_line;
  std::uint32_t submit_file;  // place in the status's list

  // Orchestrator only.
  std::uint32_t scope_serial;
  std::uint32_t scope_depth;
  std::uint32_t map_first;      // its entries in the tensor map
  std::uint32_t entries_on_it;  // 1: the tensor map has, or had, entries on its buffers
  std::uint32_t reserved;
  std::uint64_t heap_mark, args_mark, dep_mark, fanin_mark;  // heads after this task

  // Writers: orchestrator and schedulers.
  alignas(64)
      DeviceWord<std::uint32_t> pending;  // producers that are not complete, + 1 while submitted
  DeviceWord<std::uint32_t> waiters;      // head of the list of consumers that wait
  DeviceWord<std::uint32_t> parts_left;   // (block, kernel) pairs not finished
  DeviceWord<std::uint32_t> placed;       // blocks with a core, where they start together
  DeviceWord<std::uint32_t> released;     // consumers of its memory that are complete
  DeviceWord<TaskState> state;
  // Writers: the cores that run its parts, where arguments are dumped.
  DeviceWord<std::uint32_t> dump_gate;  // 0: inputs not captured, 1: being captured, 2: captured
  DeviceWord<std::uint32_t> dump_left;  // parts that have not ended
  std::uint32_t dump_scratch;           // of its inouts before the kernel, + 1; 0: none
  // Writer: host, before launch: `pending` at the beginning of every iteration.
  std::uint32_t pending_first;
  // Writer: whoever makes a mix ready. Positions in the queues of AIC and AIV tasks: those before
  // them are older.
  DeviceWord<std::uint64_t> behind[2];

  std::uint32_t fanin[kFaninInline];  // orchestrator, as above
};
static_assert(sizeof(TaskSlot) % 64 == 0);
static_assert(offsetof(TaskSlot, fanin_place) == 16 && offsetof(TaskSlot, linked) == 24 &&
              offsetof(TaskSlot, block_count) == 32 && offsetof(TaskSlot, shape) == 36 &&
              offsetof(TaskSlot, sync_start) == 37 && offsetof(TaskSlot, kernels) == 38 &&
              offsetof(TaskSlot, tensor_count) == 44 && offsetof(TaskSlot, scalar_count) == 46 &&
              offsetof(TaskSlot, args_offset) == 48 && offsetof(TaskSlot, info_offset) == 64 &&
              offsetof(TaskSlot, info_count) == 80 && offsetof(TaskSlot, raw_words) == 82 &&
              offsetof(TaskSlot, submit_line) == 84 && offsetof(TaskSlot, scope_serial) == 92 &&
              offsetof(TaskSlot, scope_depth) == 96 && offsetof(TaskSlot, heap_mark) == 112);

// What a submit has to do with a producer: nothing, it is in the list, or it is waited for, too.
struct Noted {
  std::uint64_t serial;

  TM_DEVICE constexpr std::uint64_t listed() const { return 2 * serial; }
  TM_DEVICE constexpr std::uint64_t waited() const { return 2 * serial + 1; }
};

// What a submit makes of a slot.
struct NewTask {
  TaskId id;
  std::uint32_t block_count;
  TaskShape shape;
  bool sync_start, raw_words;
  std::uint16_t kernels[kKernelsMax];
  std::uint16_t tensor_count, scalar_count;
  std::uint64_t args_offset, dump_marks;
  std::uint32_t submit_line, submit_file;
  std::uint32_t scope_serial, scope_depth;
};
// But for what all units change, and the marks. A GPU writes 16 bytes at a time.
TM_DEVICE TM_INLINE void set_new(TaskSlot& slot, const NewTask& made) {
  const auto word = [](auto value, std::uint32_t shift) {
    return static_cast<std::uint64_t>(value) << shift;
  };
  set_quantum(&slot.id, made.id.value, 0);
  set_quantum(&slot.fanin_place, 0, word(kNoEntry, 0));
  set_quantum(&slot.block_count,
              word(made.block_count, 0) | word(made.shape, 32) | word(made.sync_start, 40) |
                  word(made.kernels[0], 48),
              word(made.kernels[1], 0) | word(made.kernels[2], 16) | word(made.tensor_count, 32) |
                  word(made.scalar_count, 48));
  set_quantum(&slot.args_offset, made.args_offset, 0);
  set_quantum(&slot.info_offset, 0, made.dump_marks);
  set_quantum(&slot.info_count, word(made.raw_words, 16) | word(made.submit_line, 32),
              word(made.submit_file, 0) | word(made.scope_serial, 32));
  set_quantum(&slot.scope_depth, word(made.scope_depth, 0), 0);
}

// One argument as it is stored for the kernel.
struct StoredTensor {
  TensorView view;
  std::uint64_t owner;  // task id, or kNoOwner
  Access access;
  std::uint8_t output_index;
  std::uint8_t reserved[6];

  // All behind the view, in one quantum.
  TM_DEVICE void set_use(std::uint64_t owned_by, Access with, std::uint8_t index) {
    set_quantum(&owner, owned_by, static_cast<std::uint64_t>(with) | std::uint64_t{index} << 8);
  }
};
static_assert(offsetof(StoredTensor, owner) % 16 == 0 &&
              offsetof(StoredTensor, access) == offsetof(StoredTensor, owner) + 8 &&
              offsetof(StoredTensor, output_index) == offsetof(StoredTensor, owner) + 9);

struct StoredScalar {
  std::uint64_t value;
  DType dtype;
};
static_assert(sizeof(StoredScalar) == 16);

// A consumer in the list of a producer.
struct DepEntry {
  std::uint32_t next;
  std::uint32_t consumer;  // SlotRef
};

}  // namespace tidemark
