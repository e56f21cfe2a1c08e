// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/plan_workload.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tidemark/base/unique_fd.h"
#include "tidemark/device/device_memory.h"
#include "tidemark/session/run_request.h"

namespace tidemark {
namespace {

template <class Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Memory of the host in which a graph is built, and its way to the device.
class HostImage {
 public:
  static Expected<HostImage> create(const RuntimeLayout& layout);
  [[nodiscard]] void* base() const { return mapping_.base(); }
  // Everything that was touched.
  Expected<void> upload(DeviceMemory& memory) const;

 private:
  UniqueFd fd_;
  MappedMemory mapping_;
};

Expected<HostImage> HostImage::create(const RuntimeLayout& layout) {
  HostImage image;
  TM_TRY(auto memory, DeviceMemory::create(layout.total_bytes));
  image.fd_.reset(::dup(memory.fd()));
  TM_TRY(image.mapping_, map_device_memory(image.fd_.get(), layout.total_bytes));
  return image;
}

Expected<void> HostImage::upload(DeviceMemory& memory) const {
  const auto* base = static_cast<const std::byte*>(mapping_.base());
  const auto end = static_cast<off_t>(mapping_.bytes());
  for (off_t at = 0; at < end;) {
    const off_t begin = ::lseek(fd_.get(), at, SEEK_DATA);
    if (begin < 0) break;  // nothing but holes after it
    at = ::lseek(fd_.get(), begin, SEEK_HOLE);
    if (at < 0) at = end;
    TM_TRY_DO(memory.write(static_cast<std::uint64_t>(begin),
                           {base + begin, static_cast<std::size_t>(at - begin)}));
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
  TM_TRY_DO(memory.write(offsetof(RuntimeControl, entry), bytes_of(args)));
  for (std::size_t i = 0; i < data.buffers().size(); ++i)
    TM_TRY_DO(memory.write(args.tensors[i].buffer, data.buffers()[i].bytes));
  return {};
}

Expected<std::vector<std::byte>> build_on_host(
    DeviceMemory& device, const RuntimeLayout& layout, const EntryData& data,
    const std::function<void(const RuntimeMemory&, RuntimeStatus*)>& build) {
  std::vector<std::byte> bytes(status_bytes(layout.config.units()) + alignof(RuntimeStatus) + 128);
  TM_TRY(auto image, HostImage::create(layout));
  const RuntimeMemory memory(image.base(), layout);
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
  TM_TRY_DO(image.upload(device));
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
