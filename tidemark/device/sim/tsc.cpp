// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/sim/sim_env.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tidemark {

bool tsc_is_invariant() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx >> 8 & 1) != 0;
#else
  return false;
#endif
}

}  // namespace tidemark
