// SPDX-License-Identifier: Apache-2.0
// A kernel's view of its task: tensors, scalars, and which block it is.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tidemark/base/check.h"
#include "tidemark/runtime/kernel_info.h"
#include "tidemark/runtime/task_slot.h"
#include "tidemark/schema/half.h"

namespace tidemark {

// The dtype of a C++ type that is one.
template <class T>
TM_DEVICE constexpr DType dtype_of() {
  using std::is_same_v;
  constexpr bool kInteger = std::is_integral_v<T> && !is_same_v<T, bool>;
  static_assert(kInteger || is_same_v<T, bool> || is_same_v<T, float> || is_same_v<T, double> ||
                    is_same_v<T, Float16> || is_same_v<T, Bfloat16>,
                "not an element type of tensors");
  if constexpr (is_same_v<T, bool>) return DType::kBool;
  if constexpr (is_same_v<T, float>) return DType::kFloat32;
  if constexpr (is_same_v<T, double>) return DType::kFloat64;
  if constexpr (is_same_v<T, Float16>) return DType::kFloat16;
  if constexpr (is_same_v<T, Bfloat16>) return DType::kBfloat16;
  constexpr bool kSigned = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return kSigned ? DType::kInt8 : DType::kUint8;
  if constexpr (sizeof(T) == 2) return kSigned ? DType::kInt16 : DType::kUint16;
  if constexpr (sizeof(T) == 4) return kSigned ? DType::kInt32 : DType::kUint32;
  return kSigned ? DType::kInt64 : DType::kUint64;
}

// A tensor's elements where the kernel runs.
template <class T>
class TensorSpan {
 public:
  TM_DEVICE TensorSpan(unsigned char* memory, const TensorView& view)
      : first_(reinterpret_cast<T*>(memory + view.buffer) + view.offset),
        view_(&view),
        size_(view.element_count()),
        dense_(view.is_contiguous()) {}
  // Of no elements: whatever is asked of it, it is `instead`.
  TM_DEVICE TensorSpan(void* instead, const TensorView* zeros)
      : first_(static_cast<T*>(instead)), view_(zeros), size_(0), dense_(false) {}

  TM_DEVICE std::uint64_t size() const { return size_; }
  TM_DEVICE std::uint64_t extent(std::uint32_t dim) const { return view_->shape.extent[dim]; }
  TM_DEVICE std::uint64_t stride(std::uint32_t dim) const { return view_->stride[dim]; }
  TM_DEVICE bool is_contiguous() const { return dense_; }
  // By position in row-major order of the view.
  TM_DEVICE T& operator[](std::uint64_t index) const {
    if (dense_) return first_[index];
    std::uint64_t at = 0;
    for (std::uint32_t dim = view_->shape.rank; dim-- > 0;) {
      at += index % view_->shape.extent[dim] * view_->stride[dim];
      index /= view_->shape.extent[dim];
    }
    return first_[at];
  }
  TM_DEVICE T& operator()(std::uint64_t i, std::uint64_t j) const {
    return first_[i * view_->stride[0] + j * view_->stride[1]];
  }
  // The beginning of row i of a matrix whose rows are dense.
  TM_DEVICE T* row(std::uint64_t i) const { return first_ + i * view_->stride[0]; }
  TM_DEVICE T* data() const { return first_; }

 private:
  T* first_;
  const TensorView* view_;
  std::uint64_t size_;
  bool dense_;
};

class TaskArgs {
 public:
  TM_DEVICE TaskArgs(unsigned char* memory, const StoredTensor* tensors, std::uint32_t tensor_count,
                     const StoredScalar* scalars, std::uint32_t scalar_count)
      : memory_(memory),
        tensors_(tensors),
        scalars_(scalars),
        tensor_count_(tensor_count),
        scalar_count_(scalar_count) {}

  std::uint32_t block = 0;
  std::uint32_t block_count = 1;
  std::uint32_t core = 0;
  TaskId task;

  // An argument that the task does not have, or has with another type, is nothing: a tensor of no
  // elements, a 0. The run ends with the kernel and the argument once the kernel returns.
  template <class T>
  TM_DEVICE TensorSpan<T> tensor(std::uint32_t index) const {
    if (index < tensor_count_ && tensors_[index].view.dtype == dtype_of<T>())
      return {memory_, tensors_[index].view};
    slipped(index);
    return {nothing_ + sizeof(TensorView), nothing()};
  }
  // Scalars are counted for themselves, from 0.
  template <class T>
  TM_DEVICE T scalar(std::uint32_t index) const {
    static_assert(sizeof(T) <= 8);
    T value{};
    if (index < scalar_count_ && scalars_[index].dtype == dtype_of<T>())
      ::memcpy(&value, &scalars_[index].value, sizeof(T));
    else
      slipped(tensor_count_ + index);
    return value;
  }
  // The word as it was given, whatever its type.
  TM_DEVICE std::uint64_t word(std::uint32_t index) const {
    if (index < scalar_count_) return scalars_[index].value;
    slipped(tensor_count_ + index);
    return 0;
  }
  TM_DEVICE const TensorView& view(std::uint32_t index) const {
    if (index < tensor_count_) return tensors_[index].view;
    slipped(index);
    return *nothing();
  }
  // The first argument that the kernel asked for and did not get, + 1; 0: none.
  TM_DEVICE std::uint32_t first_slip() const { return slip().load_relaxed(); }
  // Where the copies of all threads of a block say it.
  TM_DEVICE void share_slip(DeviceWord<std::uint32_t>* word) { shared_slip_ = word; }
  TM_DEVICE std::uint32_t tensor_count() const { return tensor_count_; }
  TM_DEVICE std::uint32_t scalar_count() const { return scalar_count_; }
  TM_DEVICE unsigned char* memory() const { return memory_; }

 private:
  TM_DEVICE const TensorView* nothing() const {
    ::memset(nothing_, 0, sizeof(nothing_));
    return reinterpret_cast<const TensorView*>(nothing_);
  }
  TM_DEVICE DeviceWord<std::uint32_t>& slip() const {
    return shared_slip_ != nullptr ? *shared_slip_ : own_slip_;
  }
  TM_DEVICE void slipped(std::uint32_t arg) const {
    if (slip().load_relaxed() == 0) slip().store_relaxed(arg + 1);
  }

  unsigned char* memory_;
  const StoredTensor* tensors_;
  const StoredScalar* scalars_;
  std::uint32_t tensor_count_;
  std::uint32_t scalar_count_;
  DeviceWord<std::uint32_t>* shared_slip_ = nullptr;
  mutable DeviceWord<std::uint32_t> own_slip_{};
  // Zeros once there was a slip: a view, and an element of any type.
  alignas(16) mutable unsigned char nothing_[sizeof(TensorView) + 16];
};

}  // namespace tidemark
