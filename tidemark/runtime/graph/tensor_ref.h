// SPDX-License-Identifier: Apache-2.0
// What an orchestration holds in its hands: tasks and tensors. A handle knows the scope of its
// task; used after that scope was closed it is refused, never taken for another tensor.
#pragma once

#include <cstdint>

#include "tidemark/runtime/task_slot.h"
#include "tidemark/runtime/tensor/tensor_view.h"
#include "tidemark/schema/task_id.h"

namespace tidemark {

// The scope in which a handle lives: its depth, and which of all scopes it is.
struct ScopeMark {
  std::uint32_t depth = 0;
  std::uint32_t serial = 0;  // 0: none
};

struct TaskHandle {
  TaskId id;
  ScopeMark scope;

  TM_DEVICE bool valid() const { return scope.serial != 0; }
};

struct TensorRef {
  TensorView view;
  std::uint64_t owner = kNoOwner;  // the task that allocated it
  ScopeMark scope;                 // of the owner
  std::uint16_t output_index = 0;  // among the owner's outputs, or the entry's tensors
  std::uint16_t argument = 0;      // of the owner
  bool exists = false;

  TM_DEVICE static TensorRef external(const TensorView& view) {
    TensorRef ref;
    ref.view = view;
    ref.exists = true;
    return ref;
  }
  // Of a submit that was refused there is nothing to look at: these return it as it is.
  TM_DEVICE TensorRef slice(std::uint32_t dim, std::uint64_t first, std::uint64_t count) const {
    return exists ? with(view.slice(dim, first, count)) : *this;
  }
  TM_DEVICE TensorRef transpose(std::uint32_t one, std::uint32_t other) const {
    return exists ? with(view.transpose(one, other)) : *this;
  }
  TM_DEVICE TensorRef reshape(const TensorShape& shape) const {
    return exists ? with(view.reshape(shape)) : *this;
  }
  // Any view of the same buffer.
  TM_DEVICE TensorRef with(const TensorView& other) const {
    TensorRef ref = *this;
    if (!exists) return ref;
    ref.view = other;
    ref.view.buffer = view.buffer;
    return ref;
  }
};
static_assert(std::is_trivially_copyable_v<TensorRef>);

}  // namespace tidemark
