// SPDX-License-Identifier: Apache-2.0
// A name known at compile time: the text for the name table and the hash that records carry.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

// FNV-1a. Zero is kept for "no name", so an unlucky text becomes 1.
TM_DEVICE constexpr std::uint64_t hash_name(const char* text, std::size_t length) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (std::size_t i = 0; i < length; ++i) {
    hash ^= static_cast<unsigned char>(text[i]);
    hash *= 0x100000001B3ull;
  }
  return hash == 0 ? 1 : hash;
}

// Of a region's name table: no slot has the name.
inline constexpr std::uint32_t kNoNameSlot = ~0u;

struct Name {
  template <std::size_t kSize>
  TM_DEVICE consteval Name(const char (&literal)[kSize])  // NOLINT: a literal is a name
      : hash(hash_name(literal, kSize - 1)), text(literal), length(kSize - 1) {}

  std::uint64_t hash;
  const char* text;
  std::uint32_t length;
};

}  // namespace tidemark
