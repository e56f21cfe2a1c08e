// SPDX-License-Identifier: Apache-2.0
// Reading and writing that does not stop half way.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "tidemark/base/uninterrupted.h"

namespace tidemark {

// As many bytes as the file has from there, at most `size`; -1 with errno if the system refuses.
inline ssize_t read_at(int fd, std::uint64_t offset, void* to, std::uint64_t size) {
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t got = uninterrupted([&] {
      return ::pread(fd, static_cast<char*>(to) + done, size - done,
                     static_cast<off_t>(offset + done));
    });
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::uint64_t>(got);
  }
  return static_cast<ssize_t>(done);
}

// False with errno: less than all of it was written.
inline bool write_at(int fd, std::uint64_t offset, const void* from, std::uint64_t size) {
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t put = uninterrupted([&] {
      return ::pwrite(fd, static_cast<const char*>(from) + done, size - done,
                      static_cast<off_t>(offset + done));
    });
    if (put == 0) errno = ENOSPC;
    if (put <= 0) return false;
    done += static_cast<std::uint64_t>(put);
  }
  return true;
}

}  // namespace tidemark
