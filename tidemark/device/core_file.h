// SPDX-License-Identifier: Apache-2.0
// Where the core dump of a device is written: memory that has no name, made by the host, so that it
// outlives the device process and no half of a file is left anywhere.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/base/expected.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {

class CoreFile {
 public:
  static Expected<CoreFile> create();

  [[nodiscard]] int fd() const { return fd_.get(); }
  // 0: nothing was written.
  [[nodiscard]] std::uint64_t bytes() const;
  // Another program of this user may open it while this object is there.
  [[nodiscard]] std::string path() const;
  // Puts a copy there, with the mode of a run's files; no half of one if the system refuses.
  [[nodiscard]] Expected<void> keep(const std::string& path) const;

 private:
  explicit CoreFile(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace tidemark
