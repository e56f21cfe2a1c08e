// SPDX-License-Identifier: Apache-2.0
// Statistics of a tensor's logical bytes, taken in pieces. Counts, extremes and the hash do not
// depend on how it is cut or where it is computed.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/base/mix.h"
#include "tidemark/runtime/dtype.h"
#include "tidemark/runtime/half.h"
#include "tidemark/schema/dump_frame.h"

namespace tidemark {

class TensorStats {
 public:
  TM_DEVICE explicit TensorStats(DType dtype) : dtype_(dtype) {}

  // Pieces are multiples of 8 bytes, except the last.
  TM_DEVICE void add(const unsigned char* bytes, std::uint64_t count) {
    add_hash(bytes, count);
    switch (dtype_) {
      case DType::kFloat32:
        return add_floats<float>(bytes, count);
      case DType::kFloat64:
        return add_floats<double>(bytes, count);
      case DType::kFloat16:
        return add_halves<Float16>(bytes, count);
      case DType::kBfloat16:
        return add_halves<Bfloat16>(bytes, count);
      case DType::kInt8:
        return add_integers<std::int8_t>(bytes, count);
      case DType::kInt16:
        return add_integers<std::int16_t>(bytes, count);
      case DType::kInt32:
        return add_integers<std::int32_t>(bytes, count);
      case DType::kInt64:
        return add_integers<std::int64_t>(bytes, count);
      case DType::kUint8:
      case DType::kBool:
        return add_integers<std::uint8_t>(bytes, count);
      case DType::kUint16:
        return add_integers<std::uint16_t>(bytes, count);
      case DType::kUint32:
        return add_integers<std::uint32_t>(bytes, count);
      case DType::kUint64:
        return add_integers<std::uint64_t>(bytes, count);
    }
  }

  TM_DEVICE DumpStats result() const {
    DumpStats stats = counted_;
    const std::uint64_t numbers = elements_ - counted_.nan;
    if (numbers > 0) {
      stats.min = min_;
      stats.max = max_;
      stats.mean = sum_ / static_cast<double>(numbers);
      stats.l2 = __builtin_sqrt(squares_);
    }
    stats.hash = mix(words_ ^ bytes_);
    return stats;
  }

 private:
  TM_DEVICE void add_hash(const unsigned char* bytes, std::uint64_t count) {
    constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ull;
    std::uint64_t sum = words_, place = (next_word_ + 1) * kStep;
    std::uint64_t at = 0;
    for (; at + 8 <= count; at += 8, place += kStep) {
      std::uint64_t word = 0;
      ::memcpy(&word, bytes + at, 8);
      sum += mix(word + place);
    }
    if (at < count) {
      std::uint64_t word = 0;
      for (std::uint64_t i = 0; at + i < count; ++i)
        word |= std::uint64_t{bytes[at + i]} << (8 * i);
      sum += mix(word + place);
    }
    words_ = sum;
    next_word_ += (count + 7) / 8;
    bytes_ += count;
  }
  TM_DEVICE void take(double value) {
    if (!any_ || value < min_) min_ = value;
    if (!any_ || value > max_) max_ = value;
    any_ = true;
    sum_ += value;
    squares_ += value * value;
    counted_.zero += value == 0 ? 1 : 0;
  }
  TM_DEVICE void take_float(double value) {
    if (value != value) {
      ++counted_.nan;
      return;
    }
    counted_.inf += value - value != 0 ? 1 : 0;
    take(value);
  }
  template <class T>
  TM_DEVICE static T load(const unsigned char* bytes) {
    T value;
    ::memcpy(&value, bytes, sizeof(T));
    return value;
  }
  template <class T>
  TM_DEVICE void add_floats(const unsigned char* bytes, std::uint64_t count) {
    elements_ += count / sizeof(T);
    for (std::uint64_t at = 0; at + sizeof(T) <= count; at += sizeof(T))
      take_float(static_cast<double>(load<T>(bytes + at)));
  }
  template <class T>
  TM_DEVICE void add_halves(const unsigned char* bytes, std::uint64_t count) {
    elements_ += count / 2;
    for (std::uint64_t at = 0; at + 2 <= count; at += 2)
      take_float(static_cast<double>(load<T>(bytes + at).to_float()));
  }
  template <class T>
  TM_DEVICE void add_integers(const unsigned char* bytes, std::uint64_t count) {
    elements_ += count / sizeof(T);
    for (std::uint64_t at = 0; at + sizeof(T) <= count; at += sizeof(T))
      take(static_cast<double>(load<T>(bytes + at)));
  }

  DType dtype_;
  bool any_ = false;
  DumpStats counted_;
  double min_ = 0, max_ = 0, sum_ = 0, squares_ = 0;
  std::uint64_t elements_ = 0;
  std::uint64_t words_ = 0;  // sum of the mixed words
  std::uint64_t next_word_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace tidemark
