// SPDX-License-Identifier: Apache-2.0
// A workload's own buffers on the host: filled before launch, read back afterwards, compared with
// a reference.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tidemark/runtime/entry_args.h"
#include "tidemark/runtime/runtime_layout.h"
#include "tidemark/runtime/task_args.h"

namespace tidemark {

class EntryData {
 public:
  struct Buffer {
    DType dtype;
    TensorShape shape;
    std::vector<std::byte> bytes;
  };

  // A tensor whose element i is make(i). Returns its index in EntryArgs.
  template <class T, class Make>
  std::uint32_t add(const TensorShape& shape, const Make& make) {
    TM_CHECK(buffers_.size() < kEntryTensorsMax);
    Buffer buffer{dtype_of<T>(), shape, {}};
    buffer.bytes.resize(shape.element_count() * sizeof(T));
    auto* elements = reinterpret_cast<T*>(buffer.bytes.data());
    for (std::uint64_t i = 0; i < shape.element_count(); ++i) elements[i] = make(i);
    buffers_.push_back(std::move(buffer));
    return static_cast<std::uint32_t>(buffers_.size() - 1);
  }
  void add_number(std::int64_t number) {
    TM_CHECK(numbers_.size() < kEntryNumbersMax);
    numbers_.push_back(number);
  }

  template <class T>
  [[nodiscard]] std::span<const T> values(std::uint32_t index) const {
    const Buffer& buffer = buffers_.at(index);
    TM_CHECK(buffer.dtype == dtype_of<T>());
    return {reinterpret_cast<const T*>(buffer.bytes.data()), buffer.bytes.size() / sizeof(T)};
  }
  [[nodiscard]] std::int64_t number(std::uint32_t index) const { return numbers_.at(index); }

  // Device memory the buffers need, and where each one is in it.
  [[nodiscard]] std::uint64_t total_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& buffer : buffers_) bytes += round_up(buffer.bytes.size(), kEntryAlign);
    return bytes;
  }
  [[nodiscard]] EntryArgs args(std::uint64_t memory_offset) const {
    EntryArgs args{};
    for (const auto& buffer : buffers_) {
      args.tensors[args.tensor_count++] =
          TensorView::row_major(memory_offset, buffer.dtype, buffer.shape);
      memory_offset += round_up(buffer.bytes.size(), kEntryAlign);
    }
    for (const std::int64_t number : numbers_) args.numbers[args.number_count++] = number;
    return args;
  }
  [[nodiscard]] std::vector<Buffer>& buffers() { return buffers_; }
  [[nodiscard]] const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  std::vector<Buffer> buffers_;
  std::vector<std::int64_t> numbers_;
};

struct ResultCheck {
  bool passed = true;
  std::string text;  // for people: what was compared, or what differs
};

// |actual - expected| <= atol + rtol * |expected|, element by element. NaN never passes.
class ResultComparison {
 public:
  explicit ResultComparison(std::string what, double rtol = 1e-5, double atol = 1e-5)
      : what_(std::move(what)), rtol_(rtol), atol_(atol) {}

  void add(std::uint64_t index, double actual, double expected) {
    ++compared_;
    const double error = std::abs(actual - expected);
    if (error <= atol_ + rtol_ * std::abs(expected)) {
      worst_ = std::max(worst_, error);
      return;
    }
    if (wrong_++ > 0) return;
    first_ = fmt::format("{}[{}] is {}, expected {}", what_, index, actual, expected);
  }
  [[nodiscard]] ResultCheck result() const {
    if (wrong_ > 0)
      return {false, fmt::format("{} of {} elements differ: {}", wrong_, compared_, first_)};
    return {true, fmt::format("{} elements of {} as expected (largest error {:.2g})", compared_,
                              what_, worst_)};
  }

 private:
  std::string what_;
  double rtol_, atol_;
  double worst_ = 0;
  std::uint64_t compared_ = 0;
  std::uint64_t wrong_ = 0;
  std::string first_;
};

}  // namespace tidemark
