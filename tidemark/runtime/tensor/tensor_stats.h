// SPDX-License-Identifier: Apache-2.0
// Statistics of a tensor's logical bytes, taken in pieces. Counts, extremes and the hash do not
// depend on how it is cut, who takes which piece, or where it is computed.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tidemark/base/mix.h"
#include "tidemark/schema/dump_frame.h"
#include "tidemark/schema/element_type.h"

namespace tidemark {

// Elements go to kLanes sums in turn: one sum would be as slow as an addition is long.
template <std::uint32_t kLanes>
class TensorStatsIn {
 public:
  TM_DEVICE explicit TensorStatsIn(DType dtype) : dtype_(dtype) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      min_[lane] = kInfinity;
      max_[lane] = -kInfinity;
    }
  }

  // Pieces are multiples of 8 bytes, except the last.
  TM_DEVICE TM_NOINLINE void add(const unsigned char* bytes, std::uint64_t count) {
#if TM_HAS_WIDE
    if (kLanes > 1 && kWide && dtype_ == DType::kFloat32) return add_wide<float>(bytes, count);
    if (kLanes > 1 && kWide && dtype_ == DType::kBfloat16) return add_wide<Bfloat16>(bytes, count);
#endif
    add_narrow(bytes, count);
  }
  // Where in the tensor the next piece is, in words of 8 bytes: who shares it skips what others
  // take.
  TM_DEVICE void go_to(std::uint64_t word) { next_word_ = word; }
  // A whole word of elements of this type, at its place in the tensor.
  template <class T>
  TM_DEVICE TM_INLINE void add_word(std::uint64_t word, std::uint64_t place) {
    words_ += mix(word + (place + 1) * kHashStep);
    bytes_ += sizeof(word);
    elements_ += sizeof(word) / sizeof(T);
    TM_UNROLL
    for (std::uint32_t i = 0; i < sizeof(word) / sizeof(T); ++i)
      take(number<T>(reinterpret_cast<const unsigned char*>(&word) + i * sizeof(T)), 0);
  }
  // Of what both have taken.
  TM_DEVICE TensorStatsIn joined_with(const TensorStatsIn& other) const {
    TensorStatsIn all = *this;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      all.sum_[lane] += other.sum_[lane];
      all.squares_[lane] += other.squares_[lane];
      all.min_[lane] = other.min_[lane] < min_[lane] ? other.min_[lane] : min_[lane];
      all.max_[lane] = other.max_[lane] > max_[lane] ? other.max_[lane] : max_[lane];
      all.nan_[lane] += other.nan_[lane];
      all.inf_[lane] += other.inf_[lane];
      all.zero_[lane] += other.zero_[lane];
    }
    all.elements_ += other.elements_;
    all.words_ += other.words_;
    all.bytes_ += other.bytes_;
    return all;
  }
  // What `add` does where registers are narrow, with the same results bit by bit.
  TM_DEVICE TM_INLINE void add_narrow(const unsigned char* bytes, std::uint64_t count) {
    add_hash(bytes, count);
    if (dtype_bytes(dtype_) == 0) return;
    with_element_type(dtype_, [&](auto type) { add_elements<decltype(type)>(bytes, count); });
  }

  TM_DEVICE DumpStats result() const {
    DumpStats stats;
    double sum = 0, squares = 0, least = kInfinity, most = -kInfinity;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      sum += sum_[lane];
      squares += squares_[lane];
      least = min_[lane] < least ? min_[lane] : least;
      most = max_[lane] > most ? max_[lane] : most;
      stats.nan += nan_[lane];
      stats.inf += inf_[lane];
      stats.zero += zero_[lane];
    }
    if (const std::uint64_t numbers = elements_ - stats.nan; numbers > 0) {
      stats.min = least;
      stats.max = most;
      stats.mean = sum / static_cast<double>(numbers);
      stats.l2 = __builtin_sqrt(squares);
    }
    stats.hash = mix(words_ ^ bytes_);
    return stats;
  }

 private:
#if TM_HAS_WIDE
  // The results are the same: the sums have as many lanes everywhere.
  static inline const bool kWide =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  template <class T>
  TM_WIDE void add_wide(const unsigned char* bytes, std::uint64_t count) {
    add_hash(bytes, count);
    add_elements<T>(bytes, count);
  }
#endif
  TM_DEVICE TM_INLINE void add_hash(const unsigned char* bytes, std::uint64_t count) {
    std::uint64_t sum = words_, place = (next_word_ + 1) * kHashStep;
    std::uint64_t at = 0;
    for (; at + 8 <= count; at += 8, place += kHashStep) {
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
  template <class T>
  TM_DEVICE TM_INLINE static double number(const unsigned char* bytes) {
    T value;
    ::memcpy(&value, bytes, sizeof(T));
    if constexpr (std::is_arithmetic_v<T>) {
      return static_cast<double>(value);
    } else {
      return static_cast<double>(value.to_float());
    }
  }
  template <class T>
  TM_DEVICE TM_INLINE void add_elements(const unsigned char* bytes, std::uint64_t count) {
    const std::uint64_t elements = count / sizeof(T);
    std::uint64_t i = 0;
    for (; i + kLanes <= elements; i += kLanes)
      for (std::uint32_t lane = 0; lane < kLanes; ++lane)
        take(number<T>(bytes + (i + lane) * sizeof(T)), lane);
    for (; i < elements; ++i) take(number<T>(bytes + i * sizeof(T)), 0);
    elements_ += elements;
  }
  TM_DEVICE TM_INLINE void take(double value, std::uint32_t lane) {
    const bool is_nan = value != value;
    const double known = is_nan ? 0 : value;
    sum_[lane] += known;
    squares_[lane] += known * known;
    min_[lane] = value < min_[lane] ? value : min_[lane];
    max_[lane] = value > max_[lane] ? value : max_[lane];
    nan_[lane] += is_nan ? 1 : 0;
    inf_[lane] += value == kInfinity || value == -kInfinity ? 1 : 0;
    zero_[lane] += value == 0 ? 1 : 0;
  }

  static constexpr std::uint64_t kHashStep = 0x9E3779B97F4A7C15ull;
  static constexpr double kInfinity = __builtin_huge_val();
  DType dtype_;
  double sum_[kLanes] = {}, squares_[kLanes] = {};
  double min_[kLanes], max_[kLanes];
  std::uint64_t nan_[kLanes] = {}, inf_[kLanes] = {}, zero_[kLanes] = {};
  std::uint64_t elements_ = 0;
  std::uint64_t words_ = 0;  // sum of the mixed words
  std::uint64_t next_word_ = 0;
  std::uint64_t bytes_ = 0;
};

using TensorStats = TensorStatsIn<8>;

}  // namespace tidemark
