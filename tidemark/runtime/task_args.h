// SPDX-License-Identifier: Apache-2.0
// A kernel's view of its task: tensors, scalars, and which block it is.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/base/check.h"
#include "tidemark/runtime/half.h"
#include "tidemark/runtime/kernel_info.h"
#include "tidemark/runtime/task_slot.h"

namespace tidemark {

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::kFloat16;
};
template <>
struct DTypeOf<Bfloat16> {
  static constexpr DType value = DType::kBfloat16;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::kInt8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::kInt16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::kUint8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType value = DType::kUint16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType value = DType::kUint32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType value = DType::kUint64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};

// A tensor's elements where the kernel runs.
template <class T>
class TensorSpan {
 public:
  TM_DEVICE TensorSpan(unsigned char* memory, const TensorView& view)
      : first_(reinterpret_cast<T*>(memory + view.buffer) + view.offset),
        view_(&view),
        size_(view.element_count()),
        dense_(view.is_contiguous()) {}

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

  template <class T>
  TM_DEVICE TensorSpan<T> tensor(std::uint32_t index) const {
    CHECK(index < tensor_count_);
    CHECK(tensors_[index].view.dtype == DTypeOf<T>::value);
    return {memory_, tensors_[index].view};
  }
  // Scalars are counted for themselves, from 0.
  template <class T>
  TM_DEVICE T scalar(std::uint32_t index) const {
    static_assert(sizeof(T) <= 8);
    CHECK(index < scalar_count_);
    CHECK(scalars_[index].dtype == static_cast<std::uint64_t>(DTypeOf<T>::value));
    T value;
    ::memcpy(&value, &scalars_[index].value, sizeof(T));
    return value;
  }
  // The word as it was given, whatever its type.
  TM_DEVICE std::uint64_t word(std::uint32_t index) const {
    CHECK(index < scalar_count_);
    return scalars_[index].value;
  }
  TM_DEVICE const TensorView& view(std::uint32_t index) const { return tensors_[index].view; }
  TM_DEVICE std::uint32_t tensor_count() const { return tensor_count_; }
  TM_DEVICE std::uint32_t scalar_count() const { return scalar_count_; }
  TM_DEVICE unsigned char* memory() const { return memory_; }

 private:
  unsigned char* memory_;
  const StoredTensor* tensors_;
  const StoredScalar* scalars_;
  std::uint32_t tensor_count_;
  std::uint32_t scalar_count_;
};

}  // namespace tidemark
