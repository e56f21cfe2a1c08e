// SPDX-License-Identifier: Apache-2.0
// What an orchestration holds in its hands: tasks and tensors. A handle knows the scope of its
// task; used after that scope was closed it is refused, never taken for another tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tidemark/runtime/task_slot.h"
#include "tidemark/runtime/tensor/view_slip.h"
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
  // Read as one word: see is_sound_and_known.
  alignas(4) bool exists = false;
  ViewSlip slip = ViewSlip::kNone;  // of the call that made the view; a submit refuses it
  bool known = false;               // a buffer of the runtime's; otherwise a submit looks at it
  bool reserved = false;
  std::uint64_t buffer_bytes = 0;  // what views may reach

  // It exists, nothing is wrong with it, and it lies in the runtime's memory.
  TM_DEVICE bool is_sound_and_known() const {
    std::uint32_t flags = 0;
    ::memcpy(&flags, reinterpret_cast<const unsigned char*>(this) + offsetof(TensorRef, exists), 4);
    return flags == (1 | std::uint32_t{1} << 16);
  }
  // A buffer as large as the view says.
  TM_DEVICE static TensorRef external(const TensorView& view) {
    TensorRef ref;
    ref.view = view;
    ref.slip = slip_of_form(view);
    if (ref.slip == ViewSlip::kNone)
      ref.buffer_bytes = view.end_element() * dtype_bytes(view.dtype);
    ref.exists = true;
    return ref;
  }
  // What was refused, or slipped before, has nothing to look at: these return it as it is.
  TM_DEVICE TensorRef slice(std::uint32_t dim, std::uint64_t first, std::uint64_t count) const {
    if (!sound()) return *this;
    const ViewSlip problem = slip_of_slice(view, dim, first, count);
    return problem == ViewSlip::kNone ? seen_as(view.slice(dim, first, count)) : slipped(problem);
  }
  TM_DEVICE TensorRef transpose(std::uint32_t one, std::uint32_t other) const {
    if (!sound()) return *this;
    const ViewSlip problem = slip_of_transpose(view, one, other);
    return problem == ViewSlip::kNone ? seen_as(view.transpose(one, other)) : slipped(problem);
  }
  TM_DEVICE TM_NOINLINE_ON_GPU TensorRef reshape(const TensorShape& shape) const {
    if (!sound()) return *this;
    const ViewSlip problem = slip_of_reshape(view, shape);
    return problem == ViewSlip::kNone ? seen_as(view.reshape(shape)) : slipped(problem);
  }
  // Any view of the same buffer.
  TM_DEVICE TensorRef with(const TensorView& other) const {
    if (!sound()) return *this;
    const ViewSlip problem = slip_of_view(other, buffer_bytes);
    return problem == ViewSlip::kNone ? seen_as(other) : slipped(problem);
  }

 private:
  TM_DEVICE bool sound() const { return exists && slip == ViewSlip::kNone; }
  TM_DEVICE TensorRef seen_as(const TensorView& other) const {
    TensorRef ref = *this;
    ref.view = other;
    ref.view.buffer = view.buffer;
    return ref;
  }
  TM_DEVICE TensorRef slipped(ViewSlip problem) const {
    TensorRef ref = *this;
    ref.slip = problem;
    return ref;
  }
};
static_assert(std::is_trivially_copyable_v<TensorRef>);
static_assert(offsetof(TensorRef, slip) == offsetof(TensorRef, exists) + 1 &&
              offsetof(TensorRef, known) == offsetof(TensorRef, exists) + 2 &&
              offsetof(TensorRef, reserved) == offsetof(TensorRef, exists) + 3);

}  // namespace tidemark
