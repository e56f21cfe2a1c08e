// SPDX-License-Identifier: Apache-2.0
// One turn of a waiting loop that gives the other hardware thread of the core its share.
#pragma once

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tidemark {

#if defined(__x86_64__)
inline void spin_once() { _mm_pause(); }
#else
inline void spin_once() {}
#endif

}  // namespace tidemark
