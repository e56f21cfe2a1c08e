// SPDX-License-Identifier: Apache-2.0
// The stamp: the last 2 bytes of every 16-byte quantum of a record. A record of an unpublished
// page is whole exactly if every quantum carries the generation of its page.
#pragma once

#include <cstdint>

namespace tidemark {

using Stamp = std::uint16_t;

inline constexpr std::uint32_t kQuantumBytes = 16;
inline constexpr std::uint32_t kStampOffset = 14;

}  // namespace tidemark
