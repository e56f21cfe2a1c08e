// SPDX-License-Identifier: Apache-2.0
// One element of a tensor, as a number and as text.
#pragma once

#include <cstring>
#include <string>

#include <fmt/core.h>

#include "tidemark/schema/element_type.h"

namespace tidemark {

// fn(value) with the element in its own type; 16-bit floats as float.
template <class Fn>
decltype(auto) with_element(DType dtype, const void* bytes, const Fn& fn) {
  return with_element_type(dtype, [&](auto value) {
    std::memcpy(&value, bytes, sizeof(value));
    if constexpr (requires { value.to_float(); })
      return fn(value.to_float());
    else
      return fn(value);
  });
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
