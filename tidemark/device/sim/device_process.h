// SPDX-License-Identifier: Apache-2.0
// The device process of one run: maps the region, watches for the death of the host, runs the
// program and exits.
#pragma once

#include "tidemark/base/unique_fd.h"
#include "tidemark/device/program.h"
#include "tidemark/transport/region.h"

namespace tidemark {

struct SupervisorMessage;

[[noreturn]] void run_device_process(const SupervisorMessage& launch, UniqueFd region,
                                     int host_socket);

// Runs a program on a mapped region between its launch and finish marks. Shared with thread mode.
void run_program(DeviceProgram program, DeviceContext& context);

}  // namespace tidemark
