// SPDX-License-Identifier: Apache-2.0
// What a recorder expects of its lane. Where a branch is slow, a failure is said in the region and
// not by printf: a kernel in which printf may be called is compiled as if its threads could part at
// every branch, and each record of one thread would pay 10 ns for that.
#pragma once

#include "tidemark/base/check.h"
#include "tidemark/record/device_env.h"
#include "tidemark/transport/region.h"

namespace tidemark {

template <class Env>
inline constexpr bool kEnvLooksLate = [] {
  if constexpr (requires { Env::kLooksLate; }) {
    return Env::kLooksLate;
  } else {
    return false;
  }
}();

template <DeviceEnv Env>
TM_DEVICE TM_INLINE void expect_of_lane(const RegionView& region, bool holds, const char* what) {
  if (holds) return;
  region.say_fault(what);
  if constexpr (kEnvLooksLate<Env>)
    end_here();
  else
    stop_here(what, __FILE__, __LINE__);
}

}  // namespace tidemark
