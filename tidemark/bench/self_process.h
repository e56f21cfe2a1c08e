// SPDX-License-Identifier: Apache-2.0
// This program again, in a process of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark::bench {

class SelfProcess {
 public:
  struct End {
    int exit_code = -1;            // -1: a signal ended it
    std::uint64_t peak_bytes = 0;  // of memory, resident, in this process alone
    std::uint64_t processor_ns = 0;
  };

  // `args` begin with the program's name.
  static Expected<SelfProcess> start(const std::vector<std::string>& args);
  SelfProcess(SelfProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), out_(std::move(other.out_)) {}
  ~SelfProcess();  // one that still runs is ended

  // What it prints, until that has been said, or all of it.
  [[nodiscard]] std::string read(std::string_view until = {}) const;
  void ask_to_end() const;
  End wait();

 private:
  SelfProcess(pid_t pid, UniqueFd out) : pid_(pid), out_(std::move(out)) {}

  pid_t pid_ = 0;
  UniqueFd out_;
};

}  // namespace tidemark::bench
