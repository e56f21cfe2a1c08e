// SPDX-License-Identifier: Apache-2.0
// The few JSON habits all writers and readers here share.
#pragma once

#include <string>
#include <string_view>

#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include "tidemark/base/plain_text.h"

namespace tidemark {

using JsonWriter = rapidjson::PrettyWriter<rapidjson::StringBuffer>;
using CompactJsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

// True if the text is well-formed UTF-8, which JSON must be. RapidJSON can check this itself, but
// only while it writes: it stops in the middle of a text and leaves half of it in the file.
inline bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto point = read_utf8(text.substr(at));
    if (!point.valid) return false;
    at += point.bytes;
  }
  return true;
}

// Names come from shared memory and may be cut in the middle of a character.
template <class Json>
void put_text(Json& json, std::string_view text) {
  std::string plain;
  if (!is_utf8(text)) {
    plain = text;
    for (char& c : plain)
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    text = plain;
  }
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

// Reading: a member of the wrong type reads as absent, and texts are plain: a file may say
// anything.
inline std::string text_of(const rapidjson::Value& value) {
  return value.IsString() ? plain_text({value.GetString(), value.GetStringLength()})
                          : std::string();
}

inline const rapidjson::Value kJsonNull;

// Null: there is none.
inline const rapidjson::Value& member_of(const rapidjson::Value& object, std::string_view key) {
  if (!object.IsObject()) return kJsonNull;
  const auto found = object.FindMember(rapidjson::Value(
      rapidjson::StringRef(key.data(), static_cast<rapidjson::SizeType>(key.size()))));
  return found == object.MemberEnd() ? kJsonNull : found->value;
}

}  // namespace tidemark
