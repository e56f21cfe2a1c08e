// SPDX-License-Identifier: Apache-2.0
// The device process of one run: maps the region, watches for the death of the host, runs the
// program and exits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tidemark/base/unique_fd.h"
#include "tidemark/device/platform_table.h"
#include "tidemark/transport/region.h"

namespace tidemark {

struct SupervisorMessage;

[[noreturn]] void run_device_process(const SupervisorMessage& launch, UniqueFd region,
                                     UniqueFd memory, int host_socket);

// Says on `channel` what the device holds of the program (DeviceShape), waits there for the launch,
// and goes on as above.
[[noreturn]] void open_device_process(const SupervisorMessage& open, UniqueFd channel,
                                      int host_socket);

// Says in the region that this process is its device.
void name_device(const RegionView& region);

struct ProgramRun {
  std::string program;
  DeviceKind kind = DeviceKind::kSimulated;
  std::uint32_t device = 0;
  void* region = nullptr;  // mapped here
  void* memory = nullptr;  // the device's own; on a GPU the host's image of it
  int memory_fd = -1;
  std::uint64_t memory_bytes = 0;
  std::span<const std::byte> args;
};

// Runs a program on a mapped region between its launch and finish marks, to the exit code of its
// device process. Shared with thread mode.
int run_program(const ProgramRun& run);

}  // namespace tidemark
