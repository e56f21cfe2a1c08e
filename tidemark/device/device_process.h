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
class GpuCore;

// `files`: as they came with the message. `core`: null, or what dumps the core of its GPU.
[[noreturn]] void run_device_process(const SupervisorMessage& launch, std::span<UniqueFd> files,
                                     int host_socket, GpuCore* core);

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
  GpuCore* core = nullptr;  // dumps the core of a GPU; null: nobody wants that
};

// Runs a program on a mapped region between its launch and finish marks, to the exit code of its
// device process. Shared with thread mode.
int run_program(const ProgramRun& run);

}  // namespace tidemark
