// SPDX-License-Identifier: Apache-2.0
// CHECK states what only a bug can break; it is always on, on the host and on the device. Bad
// input from the world is never a CHECK: it is an Expected (base/expected.h).
#pragma once

#include "tidemark/base/host_device.h"

#define CHECK(condition)                               \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::tidemark::stop_here(#condition, __FILE__, __LINE__))
