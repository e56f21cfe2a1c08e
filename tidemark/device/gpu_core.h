// SPDX-License-Identifier: Apache-2.0
// The core dump that an NVIDIA driver writes of this process's context: by itself when a kernel
// touches what it must not, and when it is asked while a kernel hangs. No CUDA is needed for this:
// the driver is asked by the environment, before it is loaded, and later through a pipe.
//
//   arm ─▶ context ─▶ take_pipe ─▶ aim(file) ─▶ kernel … ─▶ ask ─▶ is_written
//
// It is a light one: registers and code, no memory. Behind a dump the driver ends a device process
// by abort(). In a process that is a user's own it ends the kernel alone, and dumps only when
// asked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tidemark/base/unique_fd.h"

namespace tidemark {

class GpuCore {
 public:
  enum class In { kDeviceProcess, kUsersProcess };
  // Before the first CUDA call of the process. Null: the user has asked the driver for dumps in a
  // way of his own, or the system refused; then nothing was changed.
  static std::unique_ptr<GpuCore> arm(In process = In::kDeviceProcess);
  ~GpuCore();
  GpuCore(const GpuCore&) = delete;
  GpuCore& operator=(const GpuCore&) = delete;

  // Once there is a context. False: its driver does not listen.
  bool take_pipe();
  // The file that the dump goes to from now on (core_file.h). False: the system refused.
  bool aim(int file);
  // Asks for a dump of what runs now. False: nobody listens.
  bool ask();
  // Whether a dump was written to its end.
  bool is_written();

 private:
  GpuCore() = default;
  bool make_pipe_folder();
  void remove_pipe_folder();
  [[nodiscard]] std::string target_path() const;

  std::string folder_;  // has the name of the pipe until it is taken
  UniqueFd pipe_;
  UniqueFd target_;  // the driver knows it by its number
  UniqueFd watch_;
  bool written_ = false;
};

}  // namespace tidemark
