// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tidemark/base/whole_io.h"

namespace tidemark {

Expected<DeviceMemory> DeviceMemory::create(std::uint64_t bytes) {
  UniqueFd fd(::memfd_create("tidemark-device-memory", MFD_CLOEXEC));
  if (!fd.valid())
    return failure(ErrorKind::kDevice, "memory of the device: {}", std::strerror(errno));
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return failure(errno == EFBIG ? ErrorKind::kFile : ErrorKind::kDevice,
                   "memory of the device, {} bytes: {}{}", bytes, std::strerror(errno),
                   errno == EFBIG ? " (the limit on file sizes, ulimit -f, is below it)" : "");
  return DeviceMemory(std::move(fd), bytes);
}

Expected<void> DeviceMemory::write(std::uint64_t offset, std::span<const std::byte> data) {
  if (!write_at(fd_.get(), offset, data.data(), data.size()))
    return failure(ErrorKind::kDevice, "write to the memory of the device: {}",
                   std::strerror(errno));
  return {};
}

Expected<void> DeviceMemory::read(std::uint64_t offset, std::span<std::byte> data) const {
  const ssize_t got = read_at(fd_.get(), offset, data.data(), data.size());
  if (got != static_cast<ssize_t>(data.size()))
    return failure(ErrorKind::kDevice, "read of the memory of the device: {}",
                   got >= 0 ? "beyond its end" : std::strerror(errno));
  return {};
}

Expected<MappedMemory> map_device_memory(int fd, std::uint64_t bytes) {
  if (bytes == 0) return MappedMemory();
  MappedMemory mapping(bytes, MAP_SHARED | MAP_NORESERVE, fd);
  if (!mapping.valid())
    return failure(ErrorKind::kDevice, "mapping the memory of the device, {} bytes: {}", bytes,
                   std::strerror(errno));
  mapping.advise(MADV_DONTDUMP);
  return mapping;
}

}  // namespace tidemark
