// SPDX-License-Identifier: Apache-2.0
// Element types of tensors and scalars, with the names the artifacts use.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/base/host_device.h"
#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class DType : std::uint8_t {
  kFloat32,
  kFloat16,
  kBfloat16,
  kFloat64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kBool,
};
inline constexpr std::uint32_t kDTypeCount = 13;

TM_DEVICE constexpr std::uint32_t dtype_bytes(DType dtype) {
  // Four bits each, the first one lowest: a GPU would build a table anew in each call.
  constexpr std::uint64_t kBytes = 0x1842184218224;
  const auto index = static_cast<std::uint32_t>(dtype);
  return index < kDTypeCount ? static_cast<std::uint32_t>(kBytes >> (4 * index)) & 15 : 0;
}

// For the host: "unknown" if the value is no dtype (it may come from a file or from shared memory).
constexpr std::string_view to_text(DType dtype) {
  return enum_text(dtype, DType::kFloat32,
                   {"float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64",
                    "uint8", "uint16", "uint32", "uint64", "bool"});
}

}  // namespace tidemark
