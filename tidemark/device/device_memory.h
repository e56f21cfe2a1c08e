// SPDX-License-Identifier: Apache-2.0
// The memory of a simulated device, outside of the region: tensors, rings, graphs. It is an
// anonymous file that the host fills before launch and reads afterwards by copies; it outlives the
// device process, so that what a crashed task left can still be looked at.
#pragma once

#include <cstdint>
#include <span>

#include "tidemark/base/expected.h"
#include "tidemark/base/mapped_memory.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {

class DeviceMemory {
 public:
  // Sparse: bytes that nobody touches cost nothing.
  static Expected<DeviceMemory> create(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  Expected<void> write(std::uint64_t offset, std::span<const std::byte> data);
  Expected<void> read(std::uint64_t offset, std::span<std::byte> data) const;

 private:
  DeviceMemory(UniqueFd fd, std::uint64_t bytes) : fd_(std::move(fd)), bytes_(bytes) {}
  UniqueFd fd_;
  std::uint64_t bytes_ = 0;
};

// The device's own view of it. Nothing is mapped where it has no bytes.
Expected<MappedMemory> map_device_memory(int fd, std::uint64_t bytes);

}  // namespace tidemark
