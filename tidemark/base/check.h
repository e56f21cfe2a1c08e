// SPDX-License-Identifier: Apache-2.0
// TM_CHECK states what only a bug can break; it is always on, on the host and on the device. Bad
// input from the world is never a TM_CHECK: it is an Expected (base/expected.h).
#pragma once

#include "tidemark/base/host_device.h"

#define TM_CHECK(condition)                            \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::tidemark::stop_here(#condition, __FILE__, __LINE__))
