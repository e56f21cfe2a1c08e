// SPDX-License-Identifier: Apache-2.0
// One element of a tensor, as a number and as text.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include <fmt/core.h>

#include "tidemark/runtime/dtype.h"
#include "tidemark/runtime/half.h"

namespace tidemark {

// fn(value) with the element in its own type; 16-bit floats as float.
template <class Fn>
decltype(auto) with_element(DType dtype, const void* bytes, const Fn& fn) {
  const auto load = [&](auto value) {
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  };
  switch (dtype) {
    case DType::kFloat32:
      return fn(load(float{}));
    case DType::kFloat64:
      return fn(load(double{}));
    case DType::kFloat16:
      return fn(load(Float16{}).to_float());
    case DType::kBfloat16:
      return fn(load(Bfloat16{}).to_float());
    case DType::kInt8:
      return fn(load(std::int8_t{}));
    case DType::kInt16:
      return fn(load(std::int16_t{}));
    case DType::kInt32:
      return fn(load(std::int32_t{}));
    case DType::kInt64:
      return fn(load(std::int64_t{}));
    case DType::kUint8:
    case DType::kBool:
      return fn(load(std::uint8_t{}));
    case DType::kUint16:
      return fn(load(std::uint16_t{}));
    case DType::kUint32:
      return fn(load(std::uint32_t{}));
    case DType::kUint64:
      break;
  }
  return fn(load(std::uint64_t{}));
}

inline double element_as_double(DType dtype, const void* bytes) {
  return with_element(dtype, bytes, [](auto value) { return static_cast<double>(value); });
}

// Reads back as the same value.
inline std::string element_text(DType dtype, const void* bytes) {
  return with_element(dtype, bytes, [](auto value) {
    if constexpr (sizeof(value) == 1)
      return fmt::format("{}", static_cast<int>(value));
    else
      return fmt::format("{}", value);
  });
}

inline bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBfloat16;
}

}  // namespace tidemark
