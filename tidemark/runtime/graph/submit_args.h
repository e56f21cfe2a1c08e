// SPDX-License-Identifier: Apache-2.0
// The arguments of one submit, put together call by call:
//
//   orch.submit<Add>(Args().in(a).in(b).out(shape, DType::kFloat32).scalar(2.0f).after(task));
//
// Tensors first, then scalars. What does not fit is remembered and refused by the submit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tidemark/base/quanta.h"
#include "tidemark/runtime/graph/args_place.h"
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

// What they are made of. Bytes: a submit must not pay for arguments it does not have.
struct ArgsData {
  struct Tensor {
    TensorRef ref;
    Access access;
  };
  struct AfterList {
    const TaskHandle* tasks;
    std::uint32_t count;
  };
  static constexpr std::uint32_t kDumpNamesMax = 8;

  TM_DEVICE ArgsData() {}  // NOLINT(modernize-use-equals-default): that would clear kilobytes

  // What every submit has, in a row: a GPU writes 16 bytes at a time.
  alignas(16) std::uint32_t tensor_count = 0;
  std::uint32_t scalar_count = 0;
  std::uint32_t after_count = 0;
  std::uint32_t after_list_count = 0;
  std::uint32_t block_count = 1;
  // Read as one word: see ReadArgs::are_plain.
  alignas(4) bool sync_start = false;
  bool too_many = false;
  bool tensor_behind_scalar = false;
  bool without_place = false;  // on a GPU there are more at a time than it has places for
  std::uint64_t listed_count = 0;
  std::uint64_t dump_marks = 0;
  std::uint32_t dump_name_count = 0;
  bool dump_all = false;
  bool dump_unknown = false;
  alignas(16) unsigned char tensors[kTensorsMax * sizeof(Tensor)];
  StoredScalar scalars[kScalarsMax];
  alignas(8) unsigned char afters[kAftersMax * sizeof(TaskHandle)];
  AfterList after_lists[kAfterListsMax];
  const char* dump_names[kDumpNamesMax];

  TM_DEVICE Tensor& tensor(std::uint32_t index) {
    return *reinterpret_cast<Tensor*>(tensors + index * sizeof(Tensor));
  }
};
static_assert(offsetof(ArgsData, too_many) == offsetof(ArgsData, sync_start) + 1 &&
              offsetof(ArgsData, tensor_behind_scalar) == offsetof(ArgsData, sync_start) + 2 &&
              offsetof(ArgsData, without_place) == offsetof(ArgsData, sync_start) + 3);

// How a submit reads them: by value, so that Args themselves may stay in registers.
class GivenArgs {
 public:
  using Tensor = ArgsData::Tensor;

  TM_DEVICE explicit GivenArgs(const ArgsPlace<ArgsData>& place) : place_(place.reference()) {}

  TM_DEVICE std::uint32_t tensor_count() const { return data().tensor_count; }
  TM_DEVICE std::uint32_t scalar_count() const { return data().scalar_count; }
  TM_DEVICE Tensor& tensor(std::uint32_t index) const { return data().tensor(index); }
  TM_DEVICE const StoredScalar& scalar_at(std::uint32_t index) const {
    return data().scalars[index];
  }
  // Calls use(task) for every one named, until it returns false. True: it never did.
  template <class Use>
  TM_DEVICE bool each_after(const Use& use) const {
    const std::uint32_t count = data().after_count;
    TM_UNROLL_NEVER
    for (std::uint32_t i = 0; i < count; ++i)
      if (!use(*reinterpret_cast<const TaskHandle*>(data().afters + i * sizeof(TaskHandle))))
        return false;
    return data().after_list_count == 0 || each_listed(use);
  }
  TM_DEVICE std::uint64_t after_count() const { return data().after_count + data().listed_count; }
  TM_DEVICE std::uint32_t block_count() const { return data().block_count; }
  TM_DEVICE bool sync_start() const { return data().sync_start; }
  TM_DEVICE bool too_many() const { return data().too_many; }
  TM_DEVICE bool has_place() const { return !data().without_place; }
  TM_DEVICE bool tensor_behind_scalar() const { return data().tensor_behind_scalar; }
  // They fit, in their order, and nothing is asked of the blocks.
  TM_DEVICE bool are_plain() const {
    std::uint32_t flags = 0;
    ::memcpy(&flags,
             reinterpret_cast<const unsigned char*>(&data()) + offsetof(ArgsData, sync_start), 4);
    return flags == 0;
  }

  // For the dump, bit per argument.
  TM_DEVICE std::uint64_t dump_marks() const {
    return data().dump_all ? ~std::uint64_t{0} : data().dump_marks;
  }
  TM_DEVICE void mark_for_dump(std::uint32_t arg) const {
    data().dump_marks |= std::uint64_t{1} << arg;
  }
  // Something was named that is no argument of a task with so many.
  TM_DEVICE bool marks_unknown(std::uint32_t count) const {
    return data().dump_unknown ||
           (count < kTensorsMax + kScalarsMax && data().dump_marks >> count != 0);
  }
  // Something is marked by name, number or tensor: to be looked up, or refused.
  TM_DEVICE bool dump_says_which() const {
    return data().dump_marks != 0 || data().dump_name_count > 0 || data().dump_unknown;
  }
  // Names that only the kernel's declaration can resolve.
  TM_DEVICE std::uint32_t dump_name_count() const { return data().dump_name_count; }
  TM_DEVICE const char* dump_name(std::uint32_t index) const { return data().dump_names[index]; }

 private:
  TM_DEVICE ArgsData& data() const { return *place_; }
  template <class Use>
  TM_DEVICE TM_NOINLINE_ON_GPU bool each_listed(const Use& use) const {
    for (std::uint32_t list = 0; list < data().after_list_count; ++list)
      for (std::uint32_t i = 0; i < data().after_lists[list].count; ++i)
        if (!use(data().after_lists[list].tasks[i])) return false;
    return true;
  }

  ArgsPlace<ArgsData>::Reference place_;
};

class Args {
 public:
  using Tensor = ArgsData::Tensor;

  TM_DEVICE Args() { tell_place(); }
  TM_DEVICE Args(const Args& from) : data_(from.data_) { tell_place(); }
  TM_DEVICE Args& operator=(const Args& from) {
    data_ = from.data_;
    tell_place();
    return *this;
  }
  TM_DEVICE Args& in(const TensorRef& tensor) { return add(tensor, Access::kInput); }
  TM_DEVICE Args& inout(const TensorRef& tensor) { return add(tensor, Access::kInout); }
  TM_DEVICE Args& out_existing(const TensorRef& tensor) {
    return add(tensor, Access::kOutputExisting);
  }
  TM_DEVICE Args& no_dep(const TensorRef& tensor) { return add(tensor, Access::kNoDep); }
  // A new tensor, which the submit returns.
  TM_DEVICE Args& out(const TensorShape& shape, DType dtype) {
    Tensor* const added = add(Access::kOutput);
    if (added == nullptr) return *this;
    TensorRef& made = added->ref;
    made = TensorRef{};
    made.exists = true;
    // A shape that is nonsense is refused by the submit, before strides are made of it.
    made.view.dtype = dtype;
    made.view.shape = shape;
    return *this;
  }
  template <class T>
  TM_DEVICE Args& scalar(T value) {
    static_assert(sizeof(T) <= 8);
    if (data_->scalar_count == kScalarsMax) {
      data_->too_many = true;
      return *this;
    }
    StoredScalar stored{0, dtype_of<T>()};
    ::memcpy(&stored.value, &value, sizeof(T));
    data_->scalars[data_->scalar_count++] = stored;
    return *this;
  }
  // Waits for a task, besides what its tensors make it wait for.
  TM_DEVICE Args& after(const TaskHandle& task) {
    if (data_->after_count == kAftersMax) {
      data_->too_many = true;
      return *this;
    }
    ::memcpy(data_->afters + data_->after_count++ * sizeof(TaskHandle), &task, sizeof(task));
    return *this;
  }
  // All of a list, besides what was named before. The handles must stay until the submit.
  TM_DEVICE Args& after(const TaskHandle* tasks, std::uint32_t count) {
    if (count == 0) return *this;
    if (data_->after_list_count == kAfterListsMax) {
      data_->too_many = true;
      return *this;
    }
    data_->after_lists[data_->after_list_count++] = {tasks, count};
    data_->listed_count += count;
    return *this;
  }
  // Marks for the dump: every argument of the task, or those that are named: by the name the kernel
  // declares, by number (tensors first, then scalars), or as a tensor that was given before.
  TM_DEVICE Args& dump() {
    data_->dump_all = true;
    return *this;
  }
  template <class... Which>
  TM_DEVICE Args& dump(const Which&... which) {
    (mark(which), ...);
    return *this;
  }
  // SPMD: the kernel runs once per block.
  TM_DEVICE Args& blocks(std::uint32_t count) {
    data_->block_count = count;
    return *this;
  }
  // All blocks run at the same time, each on a core of its own.
  TM_DEVICE Args& start_together() {
    data_->sync_start = true;
    return *this;
  }

  TM_DEVICE GivenArgs given() { return GivenArgs(data_); }

 private:
  TM_DEVICE void tell_place() { data_->without_place = !data_.own(); }
  TM_DEVICE Args& add(const TensorRef& ref, Access access) {
    if (Tensor* const added = add(access); added != nullptr) copy_quanta(added->ref, ref);
    return *this;
  }
  // Null: one too many.
  TM_DEVICE Tensor* add(Access access) {
    const std::uint32_t count = data_->tensor_count;
    if (count == kTensorsMax) {
      data_->too_many = true;
      return nullptr;
    }
    if (data_->scalar_count > 0) data_->tensor_behind_scalar = true;
    data_->tensor_count = count + 1;
    Tensor& added = data_->tensor(count);
    added.access = access;
    return &added;
  }

  TM_DEVICE void mark(std::uint32_t arg) {
    if (arg < kTensorsMax + kScalarsMax)
      data_->dump_marks |= std::uint64_t{1} << arg;
    else
      data_->dump_unknown = true;
  }
  TM_DEVICE void mark(int arg) { mark(static_cast<std::uint32_t>(arg)); }
  TM_DEVICE void mark(const char* name) {
    if (data_->dump_name_count == ArgsData::kDumpNamesMax) {
      data_->too_many = true;
      return;
    }
    data_->dump_names[data_->dump_name_count++] = name;
  }
  TM_DEVICE void mark(const TensorRef& ref) {
    bool found = false;
    for (std::uint32_t i = 0; i < data_->tensor_count; ++i) {
      const Tensor& given = data_->tensor(i);
      if (given.access == Access::kOutput || !same_elements(given.ref.view, ref.view)) continue;
      data_->dump_marks |= std::uint64_t{1} << i;
      found = true;
    }
    if (!found) data_->dump_unknown = true;
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

  ArgsPlace<ArgsData> data_;
};
// What a GPU's block needs for them.
inline constexpr std::uint32_t kArgsPlacesBytes = (kArgsPlaces + 1) * sizeof(ArgsData);

}  // namespace tidemark
