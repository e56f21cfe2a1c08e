// SPDX-License-Identifier: Apache-2.0
// Test support: an empty /dev/shm of the test's own, also for the programs it starts, until its
// owner ends. Commands that look at all regions then meet no region of another run.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "tidemark/base/check.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {

class OwnSharedMemory {
 public:
  OwnSharedMemory()
      : before_(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)),
        directory_(std::filesystem::current_path()) {
    if (!before_.valid() || ::unshare(CLONE_NEWNS) != 0) {
      before_.reset();
      return;
    }
    mounted_ = ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("none", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0;
  }
  ~OwnSharedMemory() {
    if (!before_.valid()) return;
    TM_CHECK(::setns(before_.get(), CLONE_NEWNS) == 0);
    std::filesystem::current_path(directory_);
  }
  OwnSharedMemory(const OwnSharedMemory&) = delete;
  OwnSharedMemory& operator=(const OwnSharedMemory&) = delete;

  // False: the system refuses mounts, for want of rights.
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  UniqueFd before_;
  std::filesystem::path directory_;
  bool mounted_ = false;
};

}  // namespace tidemark
