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

#include "tidemark/base/plain_text.h"

namespace tidemark {

using JsonWriter = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

// True if the text is well-formed UTF-8, which JSON must be.
inline bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto point = read_utf8(text.substr(at));
    if (!point.valid) return false;
    at += point.bytes;
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

// Reading: a member of the wrong type reads as absent, and texts are plain: a file may say
// anything.
inline std::string text_of(const rapidjson::Value& value) {
  return value.IsString() ? plain_text({value.GetString(), value.GetStringLength()})
                          : std::string();
}

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
  return found == object.MemberEnd() ? std::string() : text_of(found->value);
}

inline const rapidjson::Value* get_member(const rapidjson::Value& object, const char* key) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(key);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

}  // namespace tidemark
