// SPDX-License-Identifier: Apache-2.0
// From a dtype to the type of its elements.
#pragma once

#include <cstdint>

#include "tidemark/schema/dtype.h"
#include "tidemark/schema/half.h"

namespace tidemark {

// fn(T{}), where T is the type of an element. What is no dtype is a word of 64 bits.
template <class Fn>
TM_DEVICE TM_INLINE constexpr decltype(auto) with_element_type(DType dtype, const Fn& fn) {
  switch (dtype) {
    case DType::kFloat32:
      return fn(float{});
    case DType::kFloat64:
      return fn(double{});
    case DType::kFloat16:
      return fn(Float16{});
    case DType::kBfloat16:
      return fn(Bfloat16{});
    case DType::kInt8:
      return fn(std::int8_t{});
    case DType::kInt16:
      return fn(std::int16_t{});
    case DType::kInt32:
      return fn(std::int32_t{});
    case DType::kInt64:
      return fn(std::int64_t{});
    case DType::kUint8:
    case DType::kBool:
      return fn(std::uint8_t{});
    case DType::kUint16:
      return fn(std::uint16_t{});
    case DType::kUint32:
      return fn(std::uint32_t{});
    case DType::kUint64:
      break;
  }
  return fn(std::uint64_t{});
}

}  // namespace tidemark
