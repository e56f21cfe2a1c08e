// SPDX-License-Identifier: Apache-2.0
// Numbers and lists as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace tidemark {

// 1234567 becomes "1,234,567".
inline std::string with_commas(std::uint64_t value) {
  std::string digits = fmt::format("{}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

inline std::string human_bytes(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

inline std::string human_ns(std::uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 10'000) return fmt::format("{} ns", ns);
  if (ns < 10'000'000) return fmt::format("{:.1f} us", value / 1e3);
  if (ns < 10'000'000'000) return fmt::format("{:.1f} ms", value / 1e6);
  return fmt::format("{:.1f} s", value / 1e9);
}

// "a, b, c"; with a `last` of " or ": "a, b or c". `text_of` gives the text of an element.
template <class List, class TextOf = std::identity>
std::string joined(const List& list, std::string_view between, std::string_view last = {},
                   TextOf text_of = {}) {
  std::string text;
  std::size_t left = std::size(list);
  for (const auto& element : list) {
    if (left < std::size(list)) text += left == 1 && !last.empty() ? last : between;
    text += std::invoke(text_of, element);
    --left;
  }
  return text;
}

}  // namespace tidemark
