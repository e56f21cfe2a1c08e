// SPDX-License-Identifier: Apache-2.0
// Text of foreign origin as plain text. Names, sites and messages come from shared memory, captures
// and run directories, where anybody may have written them; a terminal must not take any of it for
// an order. Letters of every language stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

// kOne: line feeds are replaced, too, so that a name cannot forge a line.
enum class TextLines { kOne, kMany };

struct Utf8Point {
  std::uint32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

// One character of UTF-8, in its shortest form and no surrogate, or one byte that is none.
inline Utf8Point read_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {.value = lead, .bytes = 1, .valid = true};
  const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || text.size() <= more) return {};
  std::uint32_t value = lead & (0x3Fu >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return {};
    value = value << 6 | (byte & 0x3Fu);
  }
  const std::uint32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return {};
  return {.value = value, .bytes = more + 1, .valid = true};
}

// Controls (C0, DEL, C1), line and paragraph separators, and what turns the direction of writing.
inline bool is_terminal_order(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x61C || value == 0x200E ||
         value == 0x200F || (value >= 0x2028 && value <= 0x202E) ||
         (value >= 0x2066 && value <= 0x2069);
}

// The text with a '?' for every control character, bidirectional order and byte that is no UTF-8.
inline std::string plain_text(std::string_view text, TextLines lines = TextLines::kOne) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto point = read_utf8(text.substr(at));
    const bool kept = lines == TextLines::kMany && point.value == '\n';
    if (point.valid && (kept || !is_terminal_order(point.value)))
      plain += text.substr(at, point.bytes);
    else
      plain += '?';
    at += point.bytes;
  }
  return plain;
}

}  // namespace tidemark
