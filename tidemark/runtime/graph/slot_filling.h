// SPDX-License-Identifier: Apache-2.0
// Writes a new task into its slot, before anybody else knows of it.
#pragma once

#include <cstdint>

#include "tidemark/runtime/graph/site.h"
#include "tidemark/runtime/graph/submit_args.h"
#include "tidemark/runtime/graph/submit_check.h"
#include "tidemark/runtime/runtime_memory.h"

namespace tidemark {

// What a submit asks for, besides its arguments.
struct TaskPlan {
  std::uint16_t aic, aiv0, aiv1;
  TaskShape shape;
  const char* name;
  Site site;
  bool complete_at_once = false;
  bool raw_words = false;
};

// What the task was given.
struct TaskPlace {
  std::uint32_t ring = 0;
  std::uint64_t number = 0;
  std::uint64_t args_offset = 0;  // in the ring's memory for arguments
  std::uint64_t heap_offset = 0;  // in the ring's heap
  ScopeMark scope;
};

TM_DEVICE inline std::uint64_t args_bytes(const Args& args) {
  return args.tensor_count() * sizeof(StoredTensor) + args.scalar_count() * sizeof(StoredScalar);
}

// Outputs get their memory, one after the other.
TM_DEVICE inline void store_args(const RuntimeMemory& memory, const TaskSlot& slot, Args& args,
                                 std::uint64_t memory_offset, const ScopeMark& scope) {
  StoredTensor* stored = memory.tensors(slot);
  std::uint8_t output_index = 0;
  for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
    Args::Tensor& tensor = args.tensor(i);
    if (tensor.access == Access::kOutput) {
      TensorRef& made = tensor.ref;  // its shape and dtype are the program's
      made.view.buffer = memory_offset;
      made.view.lay_out_rows();
      made.owner = slot.id.value;
      made.scope = scope;
      made.output_index = output_index++;
      made.argument = static_cast<std::uint16_t>(i);
      made.known = true;
      made.buffer_bytes = made.view.element_count() * dtype_bytes(made.view.dtype);
      memory_offset = add_output_bytes(memory_offset, made.view);
    }
    stored[i].view = tensor.ref.view;
    stored[i].owner = tensor.ref.owner;
    stored[i].access = tensor.access;
    stored[i].output_index = static_cast<std::uint8_t>(tensor.ref.output_index);
  }
  StoredScalar* scalars = memory.scalars(slot);
  for (std::uint32_t i = 0; i < args.scalar_count(); ++i) scalars[i] = args.scalar_at(i);
}

TM_DEVICE inline void fill_slot(const RuntimeMemory& memory, TaskSlot& slot, Args& args,
                                const TaskPlan& plan, const TaskPlace& place) {
  const RingLayout& ring = memory.layout().rings[place.ring];
  slot.id = TaskId::make(place.ring, place.number);
  slot.block_count = args.block_count();
  slot.shape = plan.shape;
  slot.sync_start = args.sync_start() ? 1 : 0;
  slot.kernels[0] = plan.aic;
  slot.kernels[1] = plan.aiv0;
  slot.kernels[2] = plan.aiv1;
  slot.tensor_count = static_cast<std::uint16_t>(args.tensor_count());
  slot.scalar_count = static_cast<std::uint16_t>(args.scalar_count());
  slot.args_offset = ring.args_offset + place.args_offset;
  slot.info_offset = 0;
  slot.info_count = 0;
  slot.raw_words = plan.raw_words ? 1 : 0;
  slot.dump_marks = args.dump_marks();
  slot.fanin_count = 0;
  slot.fanin_spill = 0;
  slot.seen_by = 0;
  slot.waited_by = 0;
  slot.scope_serial = place.scope.serial;
  slot.scope_depth = place.scope.depth;
  slot.retained = 0;
  slot.map_first = TensorMap::kNone;
  slot.buffer_entries = 0;
  slot.submit_line = plan.site.line;
  std::uint32_t kernel_count = 0;
  for (const std::uint16_t kernel : slot.kernels) kernel_count += kernel != kNoKernel ? 1 : 0;
  slot.pending.store_relaxed(1);  // the submit itself
  slot.waiters.store_relaxed(kNoEntry);
  slot.linked = kNoEntry;
  slot.parts_left.store_relaxed(args.block_count() * kernel_count);
  slot.placed.store_relaxed(0);
  slot.released.store_relaxed(0);
  slot.state.store_relaxed(TaskState::kPending);
  slot.dump_scratch = 0;
  slot.dump_gate.store_relaxed(0);
  slot.dump_left.store_relaxed(args.block_count() * kernel_count);
  store_args(memory, slot, args, ring.heap_offset + place.heap_offset, place.scope);
}

}  // namespace tidemark
