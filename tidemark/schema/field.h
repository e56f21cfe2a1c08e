// SPDX-License-Identifier: Apache-2.0
// A record describes its own fields, so that a capture can be read without this source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "tidemark/base/host_device.h"

namespace tidemark {

enum class FieldType : std::uint8_t { kU8, kU16, kU32, kU48, kU64, kI64, kTicks48, kHash64 };

constexpr std::string_view to_text(FieldType type) {
  constexpr std::string_view kTexts[] = {"u8",  "u16", "u32",     "u48",
                                         "u64", "i64", "ticks48", "name_hash"};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(kTexts) ? kTexts[index] : "unknown";
}

// An enum as a record stores it.
template <class Enum>
TM_DEVICE constexpr std::uint64_t stored_bits(Enum value) {
  return static_cast<std::uint64_t>(value);
}

struct Field {
  const char* name;
  FieldType type;
  std::uint16_t offset;
};

}  // namespace tidemark
