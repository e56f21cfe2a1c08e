// SPDX-License-Identifier: Apache-2.0
// --inject ACTION@POINT[:N]: arms the faults of base/fault_point.h.
#pragma once

#include <string>

#include "tidemark/base/expected.h"

namespace tidemark::cli {

// For this process and those it forks.
Expected<void> arm_fault(const std::string& text);

}  // namespace tidemark::cli
