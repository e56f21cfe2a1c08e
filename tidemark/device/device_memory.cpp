// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <utility>

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
  while (!data.empty()) {
    const ssize_t put = ::pwrite(fd_.get(), data.data(), data.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      return failure(ErrorKind::kDevice, "write to the memory of the device: {}",
                     std::strerror(errno));
    data = data.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

Expected<void> DeviceMemory::read(std::uint64_t offset, std::span<std::byte> data) const {
  while (!data.empty()) {
    const ssize_t got = ::pread(fd_.get(), data.data(), data.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return failure(ErrorKind::kDevice, "read of the memory of the device: {}",
                     got == 0 ? "beyond its end" : std::strerror(errno));
    data = data.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Expected<DeviceMapping> DeviceMapping::map(int fd, std::uint64_t bytes) {
  DeviceMapping mapping;
  if (bytes == 0) return mapping;
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED)
    return failure(ErrorKind::kDevice, "mapping the memory of the device, {} bytes: {}", bytes,
                   std::strerror(errno));
  ::madvise(base, bytes, MADV_DONTDUMP);
  mapping.base_ = base;
  mapping.bytes_ = bytes;
  return mapping;
}

DeviceMapping::DeviceMapping(DeviceMapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMapping& DeviceMapping::operator=(DeviceMapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMapping::~DeviceMapping() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

}  // namespace tidemark
