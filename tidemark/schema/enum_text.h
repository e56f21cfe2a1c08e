// SPDX-License-Identifier: Apache-2.0
// The text of an enum's value, for to_text beside the enum. A value that a file or shared memory
// brings may have none.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace tidemark {

// `texts` are those of `first` and the values after it.
template <class Enum>
constexpr std::string_view enum_text(Enum value, Enum first,
                                     std::initializer_list<std::string_view> texts,
                                     std::string_view unknown = "unknown") {
  const std::size_t index = static_cast<std::size_t>(value) - static_cast<std::size_t>(first);
  return index < texts.size() ? texts.begin()[index] : unknown;
}

}  // namespace tidemark
