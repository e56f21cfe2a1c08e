// SPDX-License-Identifier: Apache-2.0
// How wide a record may be that synthetic_producer and 'bench producer' write: 32, 64 or 128 bytes.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tidemark {

constexpr bool is_record_width(std::uint32_t bytes) {
  return bytes == 32 || bytes == 64 || bytes == 128;
}

// fn(width), where width() is a constant.
template <class Fn>
auto with_record_bytes(std::uint32_t bytes, const Fn& fn) {
  if (bytes == 128) return fn(std::integral_constant<std::uint32_t, 128>());
  if (bytes == 64) return fn(std::integral_constant<std::uint32_t, 64>());
  return fn(std::integral_constant<std::uint32_t, 32>());
}

}  // namespace tidemark
