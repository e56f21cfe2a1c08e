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
  DeviceMapping mapping_;
};

Expected<HostImage> HostImage::create(const RuntimeLayout& layout) {
  HostImage image;
  auto memory = DeviceMemory::create(layout.total_bytes);
  if (!memory) return tl::unexpected(memory.error());
  image.fd_.reset(::dup(memory->fd()));
  auto mapping = DeviceMapping::map(image.fd_.get(), layout.total_bytes);
  if (!mapping) return tl::unexpected(mapping.error());
  image.mapping_ = std::move(*mapping);
  return image;
}

Expected<void> HostImage::upload(DeviceMemory& memory) const {
  const auto* base = static_cast<const std::byte*>(mapping_.base());
  const auto end = static_cast<off_t>(mapping_.bytes());
  for (off_t at = 0; at < end;) {
    const off_t begin = ::lseek(fd_.get(), at, SEEK_DATA);
    if (begin < 0) break;  // nothing but holes behind it
    at = ::lseek(fd_.get(), begin, SEEK_HOLE);
    if (at < 0) at = end;
    if (auto put = memory.write(static_cast<std::uint64_t>(begin),
                                {base + begin, static_cast<std::size_t>(at - begin)});
        !put)
      return put;
  }
  return {};
}

Expected<void> read_back(const DeviceMemory& memory, const RuntimeLayout& layout, EntryData& data) {
  const EntryArgs args = data.args(layout.entry_offset);
  for (std::size_t i = 0; i < data.buffers().size(); ++i)
    if (auto got = memory.read(args.tensors[i].buffer, data.buffers()[i].bytes); !got) return got;
  return {};
}

}  // namespace

Expected<void> upload_entry(DeviceMemory& memory, const RuntimeLayout& layout,
                            const EntryData& data) {
  const EntryArgs args = data.args(layout.entry_offset);
  if (auto put = memory.write(offsetof(RuntimeControl, entry), bytes_of(args)); !put) return put;
  for (std::size_t i = 0; i < data.buffers().size(); ++i)
    if (auto put = memory.write(args.tensors[i].buffer, data.buffers()[i].bytes); !put) return put;
  return {};
}

Expected<std::vector<std::byte>> build_on_host(
    DeviceMemory& device, const RuntimeLayout& layout, const EntryData& data,
    const std::function<void(const RuntimeMemory&, RuntimeStatus*)>& build) {
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
    if (auto put = upload_entry(memory, *layout, *data); !put) return tl::unexpected(put.error());
    return std::vector<std::byte>{};
  };
  launch.check = [=](const DeviceMemory& memory) -> Expected<ResultCheck> {
    if (auto got = read_back(memory, *layout, *data); !got) return tl::unexpected(got.error());
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
