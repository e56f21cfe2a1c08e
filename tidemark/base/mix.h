// SPDX-License-Identifier: Apache-2.0
// The splitmix64 finaliser: spreads the bits of a word. Used where two sides must derive the same
// check from the same numbers; not a defence against an enemy who knows it.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

TM_DEVICE constexpr std::uint64_t mix(std::uint64_t word) {
  word ^= word >> 30;
  word *= 0xBF58476D1CE4E5B9ull;
  word ^= word >> 27;
  word *= 0x94D049BB133111EBull;
  word ^= word >> 31;
  return word;
}

}  // namespace tidemark
