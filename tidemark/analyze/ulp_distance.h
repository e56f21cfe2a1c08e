// SPDX-License-Identifier: Apache-2.0
// How far apart two elements of one dtype are, counted in values that the dtype can hold.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "tidemark/analyze/element_text.h"

namespace tidemark {

// The bits of a float as a number that grows with it: one more for each next value, and the same
// for both zeros.
template <class Bits>
constexpr std::int64_t place_of_float(Bits bits) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << (8 * sizeof(Bits) - 1);
  const auto magnitude = static_cast<std::int64_t>(std::uint64_t{bits} & (kSign - 1));
  return (std::uint64_t{bits} & kSign) != 0 ? -magnitude : magnitude;
}

// 0: equal; 1: neighbours. Of integers their difference. Nothing: one of the two is no number, or
// is an infinity and the other is not.
inline std::optional<std::uint64_t> ulp_distance(DType dtype, const void* a, const void* b) {
  const auto between = [](auto one, auto other) {
    const auto wide = [](auto value) { return static_cast<std::uint64_t>(value); };
    return one > other ? wide(one) - wide(other) : wide(other) - wide(one);
  };
  const auto between_floats = [&](auto one, auto other) -> std::optional<std::uint64_t> {
    const double x = element_as_double(dtype, a), y = element_as_double(dtype, b);
    if (std::isnan(x) || std::isnan(y)) return std::nullopt;
    if (x != y && (std::isinf(x) || std::isinf(y))) return std::nullopt;
    std::memcpy(&one, a, sizeof(one));
    std::memcpy(&other, b, sizeof(other));
    return between(place_of_float(one), place_of_float(other));
  };
  return with_element_type(dtype, [&](auto one) -> std::optional<std::uint64_t> {
    if constexpr (std::is_integral_v<decltype(one)>) {
      auto other = one;
      std::memcpy(&one, a, sizeof(one));
      std::memcpy(&other, b, sizeof(other));
      return between(one, other);
    } else if constexpr (sizeof(one) == 2) {
      return between_floats(std::uint16_t{}, std::uint16_t{});
    } else if constexpr (sizeof(one) == 4) {
      return between_floats(std::uint32_t{}, std::uint32_t{});
    } else {
      return between_floats(std::uint64_t{}, std::uint64_t{});
    }
  });
}

}  // namespace tidemark
