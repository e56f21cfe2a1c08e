// SPDX-License-Identifier: Apache-2.0
// tidemark list: what there is to run, and where.
#include <thread>

#include <fmt/core.h>

#include "tidemark/base/human_text.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/device/platform_table.h"
#include "tidemark/schema/build_kind.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark::cli {
namespace {

int print_all() {
  print("workloads\n");
  for (const auto& workload : registered_workloads()) {
    print("  {:<20} {}\n", workload.name, workload.description);
    print("  {:<20} cases: {}\n", "", joined(workload.cases, ", ", {}, &WorkloadCase::name));
  }
  print("\nplatforms (-p)\n");
  for (const auto& platform : platforms())
    print("  {:<20} {} ({} transport)\n", platform.name, platform.description,
          to_text(platform.transport));
  print("\nruntimes (--runtime)\n");
  for (const auto& build : kBuilds) print("  {:<26} {}\n", build.name, build.description);
  print("\nstreams (their names in --policy and run.json)\n");
  for (const auto& stream : kStreams)
    print("  {:<20} {} ({})\n", stream.name, stream.content, stream.asked_by);
  print("\npolicies (--policy)\n");
  print("  {:<20} lossless: a producer waits for a page (default)\n", "wait");
  print("  {:<20} never waits: what finds no page is refused and counted\n", "drop");
  print("  {:<20} flight recorder: each lane keeps its newest --keep-pages pages\n", "keep-last");
  print("\ndevices (-d)\n  {:<20} simulated on this machine, {} processors\n",
        fmt::format("{} 0", default_platform().name), std::thread::hardware_concurrency());
  const auto gpus = cuda_devices();
  if (!gpus) print("  {:<20} {}\n", platform_of(DeviceKind::kCuda).name, gpus.error().message);
  for (const auto& gpu : gpus.value_or(std::vector<CudaDeviceInfo>{}))
    print("  {:<20} {}, {} multiprocessors, {:.1f} GiB, compute capability {}.{}\n",
          fmt::format("{} {}", platform_of(DeviceKind::kCuda).name, gpu.number), gpu.name,
          gpu.multiprocessors, static_cast<double>(gpu.memory_bytes) / (1 << 30), gpu.compute_major,
          gpu.compute_minor);
  return 0;
}

}  // namespace

void add_list_command(Command& program) {
  program.command("list", "Workloads, cases, platforms, streams, devices").run = print_all;
}

}  // namespace tidemark::cli
