// SPDX-License-Identifier: Apache-2.0
// Finalisers that spread the bits of a word (splitmix64, murmur3). Used where two sides must derive
// the same check from the same numbers; not a defence against an enemy who knows it.
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

// The finaliser of murmur3, for half words. A bijection.
TM_DEVICE constexpr std::uint32_t mix32(std::uint32_t word) {
  word ^= word >> 16;
  word *= 0x85EBCA6Bu;
  word ^= word >> 13;
  word *= 0xC2B2AE35u;
  word ^= word >> 16;
  return word;
}

}  // namespace tidemark
