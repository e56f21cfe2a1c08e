// SPDX-License-Identifier: Apache-2.0
// Where the units of a GPU's block keep what they have alone: in its shared memory, at a place that
// is known when compiling. An address that is a constant of shared memory costs an instruction; one
// that may be anywhere costs three, and a third of the time of a submit. (Telling the compiler
// where a pointer leads with __builtin_assume(__isShared(...)) made nvcc 13.0 leave out code that
// runs.)
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

#if TM_ON_GPU

inline constexpr std::uint32_t kUnitPlaceBytes = 24 * 1024;  // of all units of a block

__device__ inline unsigned char* unit_place() {
  __shared__ alignas(128) unsigned char place[kUnitPlaceBytes];
  return place;
}

// For an object that all units of a block share.
template <class T>
__device__ T& of_block() {
  __shared__ alignas(16) unsigned char place[sizeof(T)];
  return *reinterpret_cast<T*>(place);
}

#endif

}  // namespace tidemark
