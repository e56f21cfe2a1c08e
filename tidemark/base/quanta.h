// SPDX-License-Identifier: Apache-2.0
// Objects of a hundred bytes that are copied again and again, in quanta of 16 bytes: left to
// itself, a GPU's compiler copies some of them byte by byte.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tidemark/base/host_device.h"

namespace tidemark {

template <class T>
TM_DEVICE TM_INLINE void copy_quanta(T& to, const T& from) {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(alignof(T) % 16 == 0 && sizeof(T) % 16 == 0);
#if TM_ON_GPU
  TM_UNROLL
  for (std::uint32_t i = 0; i < sizeof(T) / 16; ++i)
    reinterpret_cast<uint4*>(&to)[i] = reinterpret_cast<const uint4*>(&from)[i];
#else
  to = from;
#endif
}

// Two words at an address that is a multiple of 16.
TM_DEVICE TM_INLINE void set_quantum(void* to, std::uint64_t low, std::uint64_t high) {
#if TM_ON_GPU
  *static_cast<ulonglong2*>(to) = make_ulonglong2(low, high);
#else
  const std::uint64_t words[2] = {low, high};
  std::memcpy(to, words, sizeof(words));
#endif
}

}  // namespace tidemark
