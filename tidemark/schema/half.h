// SPDX-License-Identifier: Apache-2.0
// The two 16-bit floats. Conversion from float rounds to the nearest value, ties to even; to float
// it is exact. NaN stays NaN with its sign and upper payload.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

// 1 sign, 8 exponent, 7 mantissa bits: the upper half of a float.
struct Bfloat16 {
  std::uint16_t bits = 0;

  TM_DEVICE static constexpr Bfloat16 from_float(float value) {
    const auto word = __builtin_bit_cast(std::uint32_t, value);
    if ((word & 0x7FFFFFFFu) > 0x7F800000u)  // a NaN stays one, whatever its lower bits
      return {static_cast<std::uint16_t>(word >> 16 | 0x0040u)};
    const std::uint32_t round = 0x7FFFu + (word >> 16 & 1);
    return {static_cast<std::uint16_t>((word + round) >> 16)};
  }
  TM_DEVICE constexpr float to_float() const {
    return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
  }
};
static_assert(sizeof(Bfloat16) == 2);

// 1 sign, 5 exponent, 10 mantissa bits.
struct Float16 {
  std::uint16_t bits = 0;

  TM_DEVICE static constexpr Float16 from_float(float value) {
    const auto word = __builtin_bit_cast(std::uint32_t, value);
    const auto sign = static_cast<std::uint16_t>(word >> 16 & 0x8000u);
    const std::uint32_t magnitude = word & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
      return {static_cast<std::uint16_t>(sign | 0x7E00u | (magnitude >> 13 & 0x3FFu))};
    if (magnitude >= kInfinityFrom) return {static_cast<std::uint16_t>(sign | 0x7C00u)};
    const std::uint32_t exponent = magnitude >> 23;
    if (exponent >= kSmallestNormal) {
      const std::uint32_t rebased = magnitude - ((kSmallestNormal - 1) << 23);
      return {static_cast<std::uint16_t>(sign | shift_to_nearest(rebased, 13))};
    }
    // Subnormal: the mantissa with its leading one, shifted to the unit of 2^-24.
    const std::uint32_t shift = 126 - exponent;
    if (shift > 24) return {sign};
    const std::uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
    return {static_cast<std::uint16_t>(sign | shift_to_nearest(mantissa, shift))};
  }
  TM_DEVICE constexpr float to_float() const {
    const std::uint32_t sign = std::uint32_t{bits} << 16 & 0x80000000u;
    const std::uint32_t exponent = bits >> 10 & 0x1Fu, mantissa = bits & 0x3FFu;
    if (exponent == 0x1F) return __builtin_bit_cast(float, sign | 0x7F800000u | mantissa << 13);
    if (exponent == 0) {
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    return __builtin_bit_cast(float,
                              sign | (exponent + kSmallestNormal - 1) << 23 | mantissa << 13);
  }

 private:
  static constexpr std::uint32_t kSmallestNormal = 113;        // biased exponent of 2^-14
  static constexpr std::uint32_t kInfinityFrom = 0x477FF000u;  // 65520: half way to 2^16

  TM_DEVICE static constexpr std::uint32_t shift_to_nearest(std::uint32_t value,
                                                            std::uint32_t shift) {
    const std::uint32_t half = 1u << (shift - 1);
    const std::uint32_t rest = value & ((half << 1) - 1);
    const std::uint32_t kept = value >> shift;
    return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
  }
};
static_assert(sizeof(Float16) == 2);

}  // namespace tidemark
