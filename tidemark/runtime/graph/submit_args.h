// SPDX-License-Identifier: Apache-2.0
// The arguments of one submit, put together call by call:
//
//   orch.submit<Add>(Args().in(a).in(b).out(shape, DType::kFloat32).scalar(2.0f).after(task));
//
// Tensors first, then scalars. What does not fit is remembered and refused by the submit.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/runtime/graph/tensor_ref.h"
#include "tidemark/runtime/kernel_info.h"
#include "tidemark/runtime/task_args.h"

namespace tidemark {

inline constexpr std::uint32_t kAftersMax = 32;
inline constexpr std::uint32_t kAfterListsMax = 8;
inline constexpr std::uint32_t kBlocksMax = 1u << 30;

// What a raw word of a task means.
struct TensorInfo {
  TensorRef tensor;
  Access access = Access::kInput;
};

class Args {
 public:
  struct Tensor {
    TensorRef ref;
    Access access;
  };

  TM_DEVICE Args() {}  // NOLINT(modernize-use-equals-default): that would clear two kilobytes

  TM_DEVICE Args& in(const TensorRef& tensor) { return add(tensor, Access::kInput); }
  TM_DEVICE Args& inout(const TensorRef& tensor) { return add(tensor, Access::kInout); }
  TM_DEVICE Args& out_existing(const TensorRef& tensor) {
    return add(tensor, Access::kOutputExisting);
  }
  TM_DEVICE Args& no_dep(const TensorRef& tensor) { return add(tensor, Access::kNoDep); }
  // A new tensor, which the submit returns.
  TM_DEVICE Args& out(const TensorShape& shape, DType dtype) {
    TensorRef made;
    made.exists = true;
    // A shape that is nonsense is refused by the submit, before strides are made of it.
    made.view.dtype = dtype;
    made.view.shape = shape;
    return add(made, Access::kOutput);
  }
  template <class T>
  TM_DEVICE Args& scalar(T value) {
    static_assert(sizeof(T) <= 8);
    if (scalar_count_ == kScalarsMax) {
      too_many_ = true;
      return *this;
    }
    StoredScalar stored{0, dtype_of<T>()};
    ::memcpy(&stored.value, &value, sizeof(T));
    scalars_[scalar_count_++] = stored;
    return *this;
  }
  // Waits for a task, besides what its tensors make it wait for.
  TM_DEVICE Args& after(const TaskHandle& task) {
    if (after_count_ == kAftersMax) {
      too_many_ = true;
      return *this;
    }
    ::memcpy(afters_ + after_count_++ * sizeof(TaskHandle), &task, sizeof(task));
    return *this;
  }
  // All of a list, besides what was named before. The handles must stay until the submit.
  TM_DEVICE Args& after(const TaskHandle* tasks, std::uint32_t count) {
    if (count == 0) return *this;
    if (after_list_count_ == kAfterListsMax) {
      too_many_ = true;
      return *this;
    }
    after_lists_[after_list_count_++] = {tasks, count};
    listed_count_ += count;
    return *this;
  }
  // Marks for the dump: every argument of the task, or those that are named: by the name the kernel
  // declares, by number (tensors first, then scalars), or as a tensor that was given before.
  TM_DEVICE Args& dump() {
    dump_all_ = true;
    return *this;
  }
  template <class... Which>
  TM_DEVICE Args& dump(const Which&... which) {
    (mark(which), ...);
    return *this;
  }
  // Bit per argument.
  TM_DEVICE std::uint64_t dump_marks() const { return dump_all_ ? ~std::uint64_t{0} : dump_marks_; }
  TM_DEVICE void mark_for_dump(std::uint32_t arg) { dump_marks_ |= std::uint64_t{1} << arg; }
  // Something was named that is no argument of a task with so many.
  TM_DEVICE bool marks_unknown(std::uint32_t count) const {
    return dump_unknown_ || (count < kTensorsMax + kScalarsMax && dump_marks_ >> count != 0);
  }
  // Something is marked by name, number or tensor: to be looked up, or refused.
  TM_DEVICE bool dump_says_which() const {
    return dump_marks_ != 0 || dump_name_count_ > 0 || dump_unknown_;
  }
  // Names that only the kernel's declaration can resolve.
  TM_DEVICE std::uint32_t dump_name_count() const { return dump_name_count_; }
  TM_DEVICE const char* dump_name(std::uint32_t index) const { return dump_names_[index]; }

  // SPMD: the kernel runs once per block.
  TM_DEVICE Args& blocks(std::uint32_t count) {
    block_count_ = count;
    return *this;
  }
  // All blocks run at the same time, each on a core of its own.
  TM_DEVICE Args& start_together() {
    sync_start_ = true;
    return *this;
  }

  TM_DEVICE std::uint32_t tensor_count() const { return tensor_count_; }
  TM_DEVICE std::uint32_t scalar_count() const { return scalar_count_; }
  TM_DEVICE Tensor& tensor(std::uint32_t index) {
    return *reinterpret_cast<Tensor*>(tensors_ + index * sizeof(Tensor));
  }
  TM_DEVICE const StoredScalar& scalar_at(std::uint32_t index) const { return scalars_[index]; }
  // Calls use(task) for every one named, until it returns false. True: it never did.
  template <class Use>
  TM_DEVICE bool each_after(const Use& use) const {
    for (std::uint32_t i = 0; i < after_count_; ++i)
      if (!use(*reinterpret_cast<const TaskHandle*>(afters_ + i * sizeof(TaskHandle))))
        return false;
    for (std::uint32_t list = 0; list < after_list_count_; ++list)
      for (std::uint32_t i = 0; i < after_lists_[list].count; ++i)
        if (!use(after_lists_[list].tasks[i])) return false;
    return true;
  }
  TM_DEVICE std::uint64_t after_count() const { return after_count_ + listed_count_; }
  TM_DEVICE std::uint32_t block_count() const { return block_count_; }
  TM_DEVICE bool sync_start() const { return sync_start_; }
  TM_DEVICE bool too_many() const { return too_many_; }
  TM_DEVICE bool tensor_behind_scalar() const { return tensor_behind_scalar_; }

 private:
  TM_DEVICE Args& add(const TensorRef& ref, Access access) {
    if (tensor_count_ == kTensorsMax) {
      too_many_ = true;
      return *this;
    }
    if (scalar_count_ > 0) tensor_behind_scalar_ = true;
    tensor(tensor_count_++) = Tensor{ref, access};
    return *this;
  }

  TM_DEVICE void mark(std::uint32_t arg) {
    if (arg < kTensorsMax + kScalarsMax)
      mark_for_dump(arg);
    else
      dump_unknown_ = true;
  }
  TM_DEVICE void mark(int arg) { mark(static_cast<std::uint32_t>(arg)); }
  TM_DEVICE void mark(const char* name) {
    if (dump_name_count_ == kDumpNamesMax) {
      too_many_ = true;
      return;
    }
    dump_names_[dump_name_count_++] = name;
  }
  TM_DEVICE void mark(const TensorRef& ref) {
    bool found = false;
    for (std::uint32_t i = 0; i < tensor_count_; ++i) {
      if (tensor(i).access == Access::kOutput || !same_elements(tensor(i).ref.view, ref.view))
        continue;
      mark_for_dump(i);
      found = true;
    }
    if (!found) dump_unknown_ = true;
  }
  // Slices of one buffer are different tensors.
  TM_DEVICE static bool same_elements(const TensorView& one, const TensorView& other) {
    if (one.buffer != other.buffer || one.offset != other.offset ||
        one.shape.rank != other.shape.rank)
      return false;
    for (std::uint32_t i = 0; i < one.shape.rank; ++i)
      if (one.shape.extent[i] != other.shape.extent[i] || one.stride[i] != other.stride[i])
        return false;
    return true;
  }
  static constexpr std::uint32_t kDumpNamesMax = 8;

  // Bytes: a submit must not pay for arguments it does not have.
  alignas(8) unsigned char tensors_[kTensorsMax * sizeof(Tensor)];
  StoredScalar scalars_[kScalarsMax];
  alignas(8) unsigned char afters_[kAftersMax * sizeof(TaskHandle)];
  std::uint32_t tensor_count_ = 0;
  std::uint32_t scalar_count_ = 0;
  std::uint32_t after_count_ = 0;
  std::uint32_t after_list_count_ = 0;
  std::uint64_t listed_count_ = 0;
  struct AfterList {
    const TaskHandle* tasks;
    std::uint32_t count;
  };
  AfterList after_lists_[kAfterListsMax];
  std::uint32_t block_count_ = 1;
  bool sync_start_ = false;
  bool too_many_ = false;
  bool tensor_behind_scalar_ = false;
  bool dump_all_ = false;
  bool dump_unknown_ = false;
  std::uint32_t dump_name_count_ = 0;
  std::uint64_t dump_marks_ = 0;
  const char* dump_names_[kDumpNamesMax];
};

}  // namespace tidemark
