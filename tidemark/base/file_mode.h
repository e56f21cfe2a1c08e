// SPDX-License-Identifier: Apache-2.0
// Who may read the files of a run. The mode is set once, by the command line, before any file is
// made; the umask has no say in it. A run may hold what others must not see, so it begins private.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "tidemark/base/uninterrupted.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {

inline constexpr mode_t kPrivateFileMode = 0600;

namespace file_mode_detail {
inline std::atomic<mode_t> mode{kPrivateFileMode};
}  // namespace file_mode_detail

inline mode_t file_mode() { return file_mode_detail::mode.load(std::memory_order_relaxed); }
inline void set_file_mode(mode_t mode) {
  file_mode_detail::mode.store(mode & 0666, std::memory_order_relaxed);
}

// The same people: who may read a file may also enter its folder. The owner always may.
inline mode_t directory_mode() {
  const mode_t mode = file_mode();
  return mode | (mode & 0444) >> 2 | 0700;
}

// Opens with O_CREAT, O_CLOEXEC and `flags`. Not valid, with errno, if the system refuses. The file
// is private until it has its mode: nobody opens it in between.
[[nodiscard]] inline UniqueFd create_file(const std::string& path, int flags) {
  UniqueFd fd(uninterrupted([&] {
    return ::open(path.c_str(), O_CREAT | O_CLOEXEC | flags, kPrivateFileMode & file_mode());
  }));
  if (!fd.valid() || ::fchmod(fd.get(), file_mode()) == 0) return fd;
  const int code = errno;
  fd.reset();
  errno = code;
  return fd;
}

// One folder. False, with errno, if the system refuses; EEXIST if something has that name.
[[nodiscard]] inline bool create_directory(const std::string& path) {
  return ::mkdir(path.c_str(), 0700) == 0 && ::chmod(path.c_str(), directory_mode()) == 0;
}

// A folder with all those above it that are missing. False, with errno, if the system refuses.
[[nodiscard]] inline bool create_directories(const std::string& path) {
  struct stat info {};
  if (path.empty() || create_directory(path)) return true;
  if (errno == EEXIST) {
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return true;
    errno = ENOTDIR;
    return false;
  }
  const auto end = path.find_last_not_of('/');
  const auto slash = end == std::string::npos ? end : path.find_last_of('/', end);
  if (errno != ENOENT || slash == std::string::npos || slash == 0) return false;
  if (!create_directories(path.substr(0, slash))) return false;
  return create_directory(path) || errno == EEXIST;
}

}  // namespace tidemark
