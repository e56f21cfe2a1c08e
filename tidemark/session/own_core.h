// SPDX-License-Identifier: Apache-2.0
// Source lines of the producers of a program's own kernel that hangs, from a core dump that the
// driver writes of this process when it is asked. The kernel is over behind it, and so is the
// context: every CUDA call fails from then on.
#pragma once

#include <memory>
#include <string>

#include "tidemark/device/gpu_core.h"

namespace tidemark {

struct HangState;

// Keeps the dump in the directory. What comes back is the state with the lines; what could not be
// done is in it, too.
std::shared_ptr<const HangState> with_own_core(GpuCore& core, const std::string& directory,
                                               const HangState& state);

}  // namespace tidemark
