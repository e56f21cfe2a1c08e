// SPDX-License-Identifier: Apache-2.0
// Benches whose samples are whole runs: this program started again, in a directory of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/base/expected.h"

namespace tidemark::cli {

struct SelfRun {
  std::string out;
  double wall_ns = 0;
  std::uint64_t peak_bytes = 0;  // of memory, resident, in the started process alone
};

// This program again, as somebody would type it. An exit code other than 0 is an error.
Expected<SelfRun> run_self(const std::vector<std::string>& args);

class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& parent);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};

}  // namespace tidemark::cli
