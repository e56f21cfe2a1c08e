// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/workload.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace tidemark {
namespace {

std::vector<WorkloadEntry>& table() {
  static std::vector<WorkloadEntry> entries;
  return entries;
}

template <class Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

void add_workload(WorkloadEntry entry) {
  TM_CHECK(!entry.cases.empty());
  auto& entries = table();
  std::erase_if(entries, [&](const WorkloadEntry& other) { return other.name == entry.name; });
  entries.push_back(std::move(entry));
}

const std::vector<WorkloadEntry>& registered_workloads() { return table(); }

const WorkloadEntry* find_registered_workload(std::string_view name) {
  const auto found = std::find_if(table().begin(), table().end(),
                                  [&](const WorkloadEntry& entry) { return entry.name == name; });
  return found == table().end() ? nullptr : &*found;
}

Expected<void> upload_entry(DeviceMemory& memory, const RuntimeLayout& layout,
                            const EntryData& data) {
  const EntryArgs args = data.args(layout.entry_offset);
  if (auto put = memory.write(offsetof(RuntimeControl, entry), bytes_of(args)); !put) return put;
  for (std::size_t i = 0; i < data.buffers().size(); ++i)
    if (auto put = memory.write(args.tensors[i].buffer, data.buffers()[i].bytes); !put) return put;
  return {};
}

Expected<void> read_back(const DeviceMemory& memory, const RuntimeLayout& layout, EntryData& data) {
  const EntryArgs args = data.args(layout.entry_offset);
  for (std::size_t i = 0; i < data.buffers().size(); ++i)
    if (auto got = memory.read(args.tensors[i].buffer, data.buffers()[i].bytes); !got) return got;
  return {};
}

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

}  // namespace tidemark
