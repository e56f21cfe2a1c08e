// SPDX-License-Identifier: Apache-2.0
// Test support: whether output is fit for a terminal, by bytes and without the product's own
// cleaner: UTF-8, no control character but the line feed, nothing that turns the writing around.
#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

namespace tidemark {

// Empty: plain. Otherwise the first thing that is not, and where.
inline std::string first_order_in(std::string_view text) {
  const auto found = [&](std::size_t at, const char* what) {
    return fmt::format("{} at byte {}, after '{}'", what, at,
                       text.substr(at < 40 ? 0 : at - 40, at < 40 ? at : 40));
  };
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  for (std::size_t at = 0; at < text.size();) {
    const unsigned lead = byte(at);
    if ((lead < 0x20 && lead != '\n') || lead == 0x7F) return found(at, "a control character");
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4) return found(at, "no UTF-8");
    for (std::size_t i = 1; i <= more; ++i)
      if (byte(at + i) < 0x80 || byte(at + i) > 0xBF) return found(at, "no UTF-8");
    if (lead == 0xC2 && byte(at + 1) < 0xA0) return found(at, "a C1 control character");
    if (lead == 0xE2 && byte(at + 1) == 0x80 && byte(at + 2) >= 0xA8 && byte(at + 2) <= 0xAE)
      return found(at, "a separator or bidirectional order");
    if (lead == 0xE2 && byte(at + 1) == 0x81 && byte(at + 2) >= 0xA6 && byte(at + 2) <= 0xA9)
      return found(at, "a bidirectional order");
    at += more + 1;
  }
  return {};
}

}  // namespace tidemark
