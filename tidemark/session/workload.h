// SPDX-License-Identifier: Apache-2.0
// A workload: kernels, an orchestration, its inputs and the check of its results, as one type.
// register_workload<W>() makes it known by name to the device and to the command line.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/device/program.h"
#include "tidemark/device/sim/sim_units.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/run_request.h"
#include "tidemark/session/workload_concept.h"

namespace tidemark {

struct WorkloadCase {
  std::string name;
  std::string description;
};

// What prepare and check know of the run.
struct WorkloadSetup {
  std::string case_name;
  std::uint64_t seed = 0;
  RuntimeConfig config;  // entry_bytes is not known yet
};

// One task, to be run again on memory of the host: its arguments stand in `memory` at the offsets
// their views name.
struct ReplayTask {
  TaskId task;
  std::uint16_t kernels[kKernelsMax] = {kNoKernel, kNoKernel, kNoKernel};
  std::uint32_t block_count = 1;
  std::vector<StoredTensor> tensors;
  std::vector<StoredScalar> scalars;
  std::vector<std::byte> memory;
};

struct WorkloadEntry {
  std::string name;
  std::string description;
  std::vector<WorkloadCase> cases;  // the first one is the default
  std::function<RuntimeLaunch(const WorkloadSetup&)> plan;
  std::vector<std::string> kernels;
  std::vector<KernelInfo> kernel_infos = {};  // by the same number
  std::function<void(ReplayTask&)> replay = {};
  bool device_builds = false;  // its orchestration is not for the host: host_build_graph is refused
};

void add_workload(WorkloadEntry entry);
const std::vector<WorkloadEntry>& registered_workloads();
const WorkloadEntry* find_registered_workload(std::string_view name);

// Fills the memory of the device: control block and the workload's buffers.
Expected<void> upload_entry(DeviceMemory& memory, const RuntimeLayout& layout,
                            const EntryData& data);
Expected<void> read_back(const DeviceMemory& memory, const RuntimeLayout& layout, EntryData& data);
// Memory of the host in which a graph is built, and its way to the device.
class HostImage {
 public:
  static Expected<HostImage> create(const RuntimeLayout& layout);
  [[nodiscard]] void* base() const { return mapping_.base(); }
  // Everything that was touched.
  Expected<void> upload(DeviceMemory& memory) const;

 private:
  UniqueFd fd_;
  DeviceMapping mapping_;
};

namespace workload_detail {

template <class Workload, class Env = SimEnv>
void run_on_sim(DeviceContext& context) {
  auto config = context.args<RuntimeConfig>();
  config.task_timeout_ticks =
      context.region().header().identity.ticks_per_second / 1000 * config.task_timeout_ms;
  const RuntimeMemory memory(context.memory(), lay_out(config));
  const RegionView* region = config.streams.any() ? &context.region() : nullptr;
  RecordingWatch<Env> watch(config.build == BuildKind::kHostBuild ? nullptr : region, config,
                            &unit_lines(context.status())->recorder);
  run_sim_units<Workload, Env>(
      memory, context.status(), watch, [&] { return context.stop_requested(); }, region);
}

// Builds in memory of the host and brings it to the device. Returns the bytes of the status as
// build(memory, status) left it.
template <class Build>
Expected<std::vector<std::byte>> build_on_host(DeviceMemory& device, const RuntimeLayout& layout,
                                               const EntryData& data, const Build& build) {
  std::vector<std::byte> bytes(status_bytes(layout.config.units()) + alignof(RuntimeStatus) + 128);
  auto image = HostImage::create(layout);
  if (!image) return tl::unexpected(image.error());
  const RuntimeMemory memory(image->base(), layout);
  memory.control().entry = data.args(layout.entry_offset);
  std::uint64_t offset = layout.entry_offset;
  for (const auto& buffer : data.buffers()) {
    std::copy(buffer.bytes.begin(), buffer.bytes.end(),
              reinterpret_cast<std::byte*>(memory.base()) + offset);
    offset += round_up(buffer.bytes.size(), kEntryAlign);
  }
  void* place = bytes.data();
  std::size_t space = bytes.size();
  auto* status = static_cast<RuntimeStatus*>(
      std::align(alignof(UnitProgress), status_bytes(layout.config.units()), place, space));
  build(memory, status);
  if (auto put = image->upload(device); !put) return tl::unexpected(put.error());
  const auto* first = reinterpret_cast<const std::byte*>(status);
  return std::vector<std::byte>(first, first + status_bytes(layout.config.units()));
}

template <class Workload, class Env = SimEnv>
RuntimeLaunch plan(const WorkloadSetup& setup) {
  auto data = std::make_shared<EntryData>();
  Workload::prepare(setup, *data);
  RuntimeLaunch launch;
  launch.config = setup.config;
  if constexpr (requires { Workload::configure(launch.config); })
    Workload::configure(launch.config);
  launch.config.entry_bytes = data->total_bytes();
  const auto layout = std::make_shared<RuntimeLayout>(lay_out(launch.config));
  launch.memory_bytes = layout->total_bytes;
  launch.prepare = [data, layout](DeviceMemory& memory,
                                  const RegionView* region) -> Expected<std::vector<std::byte>> {
    if (layout->config.build == BuildKind::kHostBuild)
      return build_on_host(memory, *layout, *data,
                           [&](const RuntimeMemory& image, RuntimeStatus* status) {
                             RecordingWatch<Env> watch(region, layout->config);
                             orchestrate_here<Workload, HostBuild, Env>(image, status, watch);
                           });
    if (auto put = upload_entry(memory, *layout, *data); !put) return tl::unexpected(put.error());
    return std::vector<std::byte>{};
  };
  launch.check = [data, layout, setup](const DeviceMemory& memory) -> Expected<ResultCheck> {
    if (auto got = read_back(memory, *layout, *data); !got) return tl::unexpected(got.error());
    return Workload::check(setup, *data);
  };
  return launch;
}

// Block after block, kernel after kernel.
template <class Workload>
void replay(ReplayTask& task) {
  TaskArgs args(reinterpret_cast<unsigned char*>(task.memory.data()), task.tensors.data(),
                static_cast<std::uint32_t>(task.tensors.size()), task.scalars.data(),
                static_cast<std::uint32_t>(task.scalars.size()));
  args.task = task.task;
  args.block_count = task.block_count;
  SimBlock block;
  for (args.block = 0; args.block < task.block_count; ++args.block)
    for (const std::uint16_t kernel : task.kernels)
      if (kernel != kNoKernel) Workload::Kernels::run(kernel, block, args);
}

}  // namespace workload_detail

template <Workload W, UnitEnv Env = SimEnv>
void register_workload() {
  register_device_program(W::kName, &workload_detail::run_on_sim<W, Env>);
  WorkloadEntry entry{.name = W::kName,
                      .description = W::kDescription,
                      .cases = W::cases(),
                      .plan = &workload_detail::plan<W, Env>,
                      .kernels = {},
                      .kernel_infos = {},
                      .replay = &workload_detail::replay<W>};
  if constexpr (requires { W::kDeviceBuilds; }) entry.device_builds = true;
  for (std::uint16_t i = 0; i < W::Kernels::kCount; ++i) {
    entry.kernel_infos.push_back(W::Kernels::info(i));
    entry.kernels.emplace_back(entry.kernel_infos.back().name);
  }
  add_workload(std::move(entry));
}

}  // namespace tidemark
