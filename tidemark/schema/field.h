// SPDX-License-Identifier: Apache-2.0
// A record describes its own fields, so that a capture can be read without this source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include "tidemark/base/host_device.h"

namespace tidemark {

enum class FieldType : std::uint8_t { kU8, kU16, kU32, kU48, kU64, kI64, kTicks48, kHash64, kF64 };

struct FieldTypeInfo {
  std::string_view text;
  std::uint32_t bytes;
};
constexpr FieldTypeInfo info_of(FieldType type) {
  constexpr FieldTypeInfo kTypes[] = {{"u8", 1},      {"u16", 2},       {"u32", 4},
                                      {"u48", 6},     {"u64", 8},       {"i64", 8},
                                      {"ticks48", 6}, {"name_hash", 8}, {"f64", 8}};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(kTypes) ? kTypes[index] : FieldTypeInfo{"unknown", 0};
}
constexpr std::string_view to_text(FieldType type) { return info_of(type).text; }

struct Field {
  const char* name;
  FieldType type;
  std::uint16_t offset;

  // The bits of the field, little-endian as everything that is stored.
  [[nodiscard]] std::uint64_t read(const void* record) const {
    std::uint64_t value = 0;
    std::memcpy(&value, static_cast<const unsigned char*>(record) + offset, info_of(type).bytes);
    return value;
  }
};

// A field by which the kinds of a stream are told apart.
struct FieldIs {
  Field field{};  // without a name: none
  std::uint64_t value = 0;
};

// One shape of record. A stream may have several; `when` says which one a record has.
struct RecordKind {
  constexpr RecordKind(const char* kind_name, std::span<const Field> kind_fields,
                       FieldIs first = {}, FieldIs second = {})
      : name(kind_name), fields(kind_fields), when{first, second} {
    for (const Field& field : fields)
      if (field.type == FieldType::kTicks48) time_word = field.offset / 8u;
  }
  [[nodiscard]] bool fits(const void* record) const {
    for (const FieldIs& is : when)
      if (is.field.name != nullptr && is.field.read(record) != is.value) return false;
    return true;
  }

  const char* name;
  std::span<const Field> fields;
  FieldIs when[2];
  static constexpr std::uint32_t kNoTime = ~0u;
  std::uint32_t time_word = kNoTime;  // when it was written: its last time
};

// An enum as a record stores it.
template <class Enum>
TM_DEVICE constexpr std::uint64_t stored_bits(Enum value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace tidemark
