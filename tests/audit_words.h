// SPDX-License-Identifier: Apache-2.0
// The counts that an audited run keeps of its accepted records: a file of one word per lane.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "tidemark/base/check.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {

inline constexpr std::uint32_t kAuditLanes = 1024;

// The test's side of it. Programs that are started while it lives count in it.
class AuditWords {
 public:
  explicit AuditWords(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    CHECK(fd.valid() && ::ftruncate(fd.get(), kAuditLanes * 8) == 0);
    void* base = ::mmap(nullptr, kAuditLanes * 8, PROT_READ, MAP_SHARED, fd.get(), 0);
    CHECK(base != MAP_FAILED);
    words_ = static_cast<const std::uint64_t*>(base);
    ::setenv("TIDEMARK_AUDIT", path.c_str(), 1);
  }
  ~AuditWords() {
    ::unsetenv("TIDEMARK_AUDIT");
    ::munmap(const_cast<std::uint64_t*>(words_), kAuditLanes * 8);
  }
  AuditWords(const AuditWords&) = delete;
  AuditWords& operator=(const AuditWords&) = delete;
  [[nodiscard]] std::uint64_t accepted(std::uint32_t lane) const {
    return lane < kAuditLanes ? words_[lane] : 0;
  }

 private:
  const std::uint64_t* words_ = nullptr;
};

}  // namespace tidemark
