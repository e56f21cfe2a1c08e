// SPDX-License-Identifier: Apache-2.0
// Memory mapped for reading and writing, unmapped with its owner.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "tidemark/base/unique_fd.h"

namespace tidemark {

class MappedMemory {
 public:
  MappedMemory() = default;
  // `flags` and `fd` as for mmap. Not valid, with errno, if the system refuses.
  MappedMemory(std::uint64_t bytes, int flags, int fd = -1)
      : base_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0)), bytes_(bytes) {
    if (base_ == MAP_FAILED) base_ = nullptr;
  }
  MappedMemory(MappedMemory&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedMemory() {
    if (base_ != nullptr) ::munmap(base_, bytes_);
  }

  [[nodiscard]] bool valid() const { return base_ != nullptr; }
  [[nodiscard]] void* base() const { return base_; }
  [[nodiscard]] unsigned char* data() const { return static_cast<unsigned char*>(base_); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // `advice` as for madvise: a wish, not a condition.
  void advise(int advice) const { ::madvise(base_, bytes_, advice); }

 private:
  void* base_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// A file that lives in memory, all of it mapped and there. Not valid: the system refused.
inline MappedMemory map_memory_file(const char* name, std::uint64_t bytes) {
  const UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return {};
  return {bytes, MAP_SHARED | MAP_POPULATE, fd.get()};
}

}  // namespace tidemark
