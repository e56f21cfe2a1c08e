// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/plan_workload.h"

#include <unistd.h>

#include <memory>

#include "tidemark/device/device_memory.h"
#include "tidemark/session/run_request.h"

namespace tidemark {
namespace {

template <class Value>
std::span<const std::byte> object_bytes(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Everything in `image`, which is mapped at `base`, that was ever written.
Expected<void> copy_written(const DeviceMemory& image, const void* base, DeviceMemory& to) {
  const auto end = static_cast<off_t>(image.bytes());
  for (off_t at = 0; at < end;) {
    const off_t begin = ::lseek(image.fd(), at, SEEK_DATA);
    if (begin < 0) break;  // nothing but holes after it
    at = ::lseek(image.fd(), begin, SEEK_HOLE);
    if (at < 0) at = end;
    TM_TRY_DO(to.write(
        static_cast<std::uint64_t>(begin),
        {static_cast<const std::byte*>(base) + begin, static_cast<std::size_t>(at - begin)}));
  }
  return {};
}

Expected<void> read_back(const DeviceMemory& memory, const RuntimeLayout& layout, EntryData& data) {
  const EntryArgs args = data.args(layout.entry_offset);
  for (std::size_t i = 0; i < data.buffers().size(); ++i)
    TM_TRY_DO(memory.read(args.tensors[i].buffer, data.buffers()[i].bytes));
  return {};
}

}  // namespace

Expected<void> upload_entry(DeviceMemory& memory, const RuntimeLayout& layout,
                            const EntryData& data) {
  const EntryArgs args = data.args(layout.entry_offset);
  TM_TRY_DO(memory.write(offsetof(RuntimeControl, entry), object_bytes(args)));
  for (std::size_t i = 0; i < data.buffers().size(); ++i)
    TM_TRY_DO(memory.write(args.tensors[i].buffer, data.buffers()[i].bytes));
  return {};
}

Expected<std::vector<std::byte>> build_on_host(
    DeviceMemory& device, const RuntimeLayout& layout, const EntryData& data,
    const std::function<void(const RuntimeMemory&, RuntimeStatus*)>& build) {
  std::vector<std::byte> bytes(status_bytes(layout.config.units()) + alignof(RuntimeStatus) + 128);
  TM_TRY(auto image, DeviceMemory::create(layout.total_bytes));
  TM_TRY_DO(upload_entry(image, layout, data));
  TM_TRY(const auto mapping, map_device_memory(image.fd(), layout.total_bytes));
  const RuntimeMemory memory(mapping.base(), layout);
  void* place = bytes.data();
  std::size_t space = bytes.size();
  auto* status = static_cast<RuntimeStatus*>(
      std::align(alignof(UnitProgress), status_bytes(layout.config.units()), place, space));
  build(memory, status);
  TM_TRY_DO(copy_written(image, mapping.base(), device));
  const auto* first = reinterpret_cast<const std::byte*>(status);
  return std::vector<std::byte>(first, first + status_bytes(layout.config.units()));
}

namespace {

RuntimeLaunch plan_workload(const WorkloadSetup& setup, const WorkloadSteps& steps) {
  auto data = std::make_shared<EntryData>();
  steps.prepare(setup, *data);
  RuntimeLaunch launch;
  launch.config = setup.config;
  if (steps.configure != nullptr) steps.configure(launch.config);
  launch.config.entry_bytes = data->total_bytes();
  const auto layout = std::make_shared<RuntimeLayout>(lay_out(launch.config));
  launch.memory_bytes = layout->total_bytes;
  launch.prepare = [=](DeviceMemory& memory,
                       const RegionView* region) -> Expected<std::vector<std::byte>> {
    if (layout->config.build == BuildKind::kHostBuild)
      return build_on_host(memory, *layout, *data,
                           [&](const RuntimeMemory& image, RuntimeStatus* status) {
                             steps.build(image, status, region);
                           });
    TM_TRY_DO(upload_entry(memory, *layout, *data));
    return std::vector<std::byte>{};
  };
  launch.check = [=](const DeviceMemory& memory) -> Expected<ResultCheck> {
    TM_TRY_DO(read_back(memory, *layout, *data));
    return steps.check(setup, *data);
  };
  return launch;
}

}  // namespace

void add_task_workload(WorkloadEntry entry, const WorkloadSteps& steps) {
  for (const KernelInfo& info : entry.kernel_infos) entry.kernels.emplace_back(info.name);
  entry.plan = [steps](const WorkloadSetup& setup) { return plan_workload(setup, steps); };
  add_workload(std::move(entry));
}

}  // namespace tidemark
