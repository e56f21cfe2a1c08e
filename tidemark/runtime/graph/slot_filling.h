// SPDX-License-Identifier: Apache-2.0
// Writes a new task into its slot, before anybody else knows of it.
#pragma once

#include <cstdint>

#include "tidemark/base/quanta.h"
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
  std::uint32_t file = 0;         // of its submit, in the status's list
  ScopeMark scope;
};

TM_DEVICE inline std::uint64_t args_bytes(GivenArgs args) {
  return args.tensor_count() * sizeof(StoredTensor) + args.scalar_count() * sizeof(StoredScalar);
}

// Outputs get their memory, one after the other.
TM_DEVICE inline void store_args(const RuntimeMemory& memory, std::uint64_t args_offset,
                                 GivenArgs args, TaskId task, std::uint64_t memory_offset,
                                 const ScopeMark& scope) {
  StoredTensor* stored = memory.at<StoredTensor>(args_offset);
  std::uint8_t output_index = 0;
  const std::uint32_t tensors = args.tensor_count();
  TM_UNROLL_NEVER
  for (std::uint32_t i = 0; i < tensors; ++i) {
    GivenArgs::Tensor& tensor = args.tensor(i);
    if (tensor.access == Access::kOutput) {
      TensorRef& made = tensor.ref;  // its shape and dtype are the program's
      made.view.buffer = memory_offset;
      made.view.lay_out_rows();
      made.owner = task.value;
      made.scope = scope;
      made.output_index = output_index++;
      made.argument = static_cast<std::uint16_t>(i);
      made.known = true;
      memory_offset = add_output_bytes(memory_offset, made.buffer_bytes);
    }
    copy_quanta(stored[i].view, tensor.ref.view);
    stored[i].set_use(tensor.ref.owner, tensor.access,
                      static_cast<std::uint8_t>(tensor.ref.output_index));
  }
  auto* scalars = memory.at<StoredScalar>(args_offset + tensors * sizeof(StoredTensor));
  const std::uint32_t scalar_count = args.scalar_count();
  TM_UNROLL_NEVER
  for (std::uint32_t i = 0; i < scalar_count; ++i) scalars[i] = args.scalar_at(i);
}

TM_DEVICE inline void fill_slot(const RuntimeMemory& memory, TaskSlot& slot, GivenArgs args,
                                const TaskPlan& plan, const TaskPlace& place) {
  const RingLayout& ring = memory.layout().rings[place.ring];
  const TaskId id = TaskId::make(place.ring, place.number);
  const std::uint32_t blocks = args.block_count();
  const auto kernel_count = static_cast<std::uint32_t>(
      (plan.aic != kNoKernel) + (plan.aiv0 != kNoKernel) + (plan.aiv1 != kNoKernel));
  const std::uint32_t parts = blocks * kernel_count;
  const std::uint64_t args_offset = ring.args_offset + place.args_offset;
  set_new(slot, {.id = id,
                 .block_count = blocks,
                 .shape = plan.shape,
                 .sync_start = args.sync_start(),
                 .raw_words = plan.raw_words,
                 .kernels = {plan.aic, plan.aiv0, plan.aiv1},
                 .tensor_count = static_cast<std::uint16_t>(args.tensor_count()),
                 .scalar_count = static_cast<std::uint16_t>(args.scalar_count()),
                 .args_offset = args_offset,
                 .dump_marks = args.dump_marks(),
                 .submit_line = plan.site.line,
                 .submit_file = place.file,
                 .scope_serial = place.scope.serial,
                 .scope_depth = place.scope.depth});
  // pending: the submit itself
  store_four_relaxed(slot.pending, 1u, slot.waiters, kNoEntry, slot.parts_left, parts, slot.placed,
                     0u);
  store_four_relaxed(slot.released, 0u, slot.state, TaskState::kPending, slot.dump_gate, 0u,
                     slot.dump_left, parts);
  slot.dump_scratch = 0;
  store_args(memory, args_offset, args, id, ring.heap_offset + place.heap_offset, place.scope);
}

}  // namespace tidemark
