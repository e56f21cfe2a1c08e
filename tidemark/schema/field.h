// SPDX-License-Identifier: Apache-2.0
// A record describes its own fields, so that a capture can be read without this source.
#pragma once

#include <cstdint>

namespace tidemark {

enum class FieldType : std::uint8_t { kU8, kU16, kU32, kU48, kU64, kI64, kTicks48, kHash64 };

struct Field {
  const char* name;
  FieldType type;
  std::uint16_t offset;
};

}  // namespace tidemark
