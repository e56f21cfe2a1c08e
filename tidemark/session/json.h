// SPDX-License-Identifier: Apache-2.0
// The few JSON habits all writers and readers here share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

namespace tidemark {

using JsonWriter = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

// True if the text is well-formed UTF-8, which JSON must be.
inline bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - i < more) return false;
    std::uint32_t point = lead & (0x3Fu >> more);
    for (std::size_t end = i + more; i < end; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if ((byte & 0xC0) != 0x80) return false;
      point = point << 6 | (byte & 0x3Fu);
    }
    const std::uint32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
    if (point < least || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return false;
  }
  return true;
}

// Names come from shared memory and may be cut in the middle of a character.
template <class Writer>
void put_text(Writer& writer, std::string_view text) {
  if (is_utf8(text)) {
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return;
  }
  std::string plain(text);
  for (char& c : plain)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  writer.String(plain.data(), static_cast<rapidjson::SizeType>(plain.size()));
}

template <class Writer>
void put_key(Writer& writer, std::string_view key) {
  writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
}

template <class Writer, class Value>
void put(Writer& writer, std::string_view key, const Value& value) {
  put_key(writer, key);
  if constexpr (std::is_same_v<Value, bool>)
    writer.Bool(value);
  else if constexpr (std::is_floating_point_v<Value>)
    writer.Double(value);
  else if constexpr (std::is_integral_v<Value> && std::is_signed_v<Value>)
    writer.Int64(value);
  else if constexpr (std::is_integral_v<Value>)
    writer.Uint64(value);
  else
    put_text(writer, value);
}

// Reading: a member of the wrong type reads as absent.
inline std::uint64_t get_u64(const rapidjson::Value& object, const char* key,
                             std::uint64_t otherwise = 0) {
  if (!object.IsObject()) return otherwise;
  const auto found = object.FindMember(key);
  return found != object.MemberEnd() && found->value.IsUint64() ? found->value.GetUint64()
                                                                : otherwise;
}

inline std::string get_text(const rapidjson::Value& object, const char* key) {
  if (!object.IsObject()) return {};
  const auto found = object.FindMember(key);
  if (found == object.MemberEnd() || !found->value.IsString()) return {};
  return {found->value.GetString(), found->value.GetStringLength()};
}

inline const rapidjson::Value* get_member(const rapidjson::Value& object, const char* key) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(key);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

}  // namespace tidemark
