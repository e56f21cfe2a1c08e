// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/core_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <vector>

#include "tidemark/base/file_mode.h"
#include "tidemark/base/whole_io.h"

namespace tidemark {

Expected<CoreFile> CoreFile::create() {
  UniqueFd fd(::memfd_create("tidemark-core", MFD_CLOEXEC));
  if (!fd.valid()) return file_failure("create", "memory for a core dump");
  return CoreFile(std::move(fd));
}

std::uint64_t CoreFile::bytes() const {
  struct stat info {};
  return ::fstat(fd_.get(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::string CoreFile::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_.get()); }

Expected<void> CoreFile::keep(const std::string& path) const {
  const std::string part = path + ".part";
  const UniqueFd file = create_file(part, O_WRONLY | O_TRUNC);
  if (!file.valid()) return file_failure("create", part);
  const auto failed = [&](const char* call) {
    auto error = file_failure(call, path);
    ::unlink(part.c_str());
    return error;
  };
  std::vector<std::byte> buffer(256 << 10);
  const std::uint64_t end = bytes();
  for (std::uint64_t at = 0; at < end;) {
    const ssize_t got = read_at(fd_.get(), at, buffer.data(), buffer.size());
    if (got < 0) return failed("read the core dump for");
    if (got == 0) break;
    if (!write_at(file.get(), at, buffer.data(), static_cast<std::uint64_t>(got)))
      return failed("write");
    at += static_cast<std::uint64_t>(got);
  }
  if (::rename(part.c_str(), path.c_str()) != 0) return failed("rename to");
  return {};
}

}  // namespace tidemark
