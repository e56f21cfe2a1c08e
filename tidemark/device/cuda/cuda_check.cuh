// SPDX-License-Identifier: Apache-2.0
// Every CUDA call goes through a CudaCheck: a failure is kept with the name of the call and of the
// device.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "tidemark/base/expected.h"

namespace tidemark {

class CudaCheck {
 public:
  explicit CudaCheck(int device) : device_(device) {}

  // False if it failed. The first failure is the one to report: later ones often follow from it.
  bool operator()(cudaError_t code, std::string_view call) {
    if (code == cudaSuccess) return true;
    if (message_.empty())
      message_ = fmt::format("{} on CUDA device {}: {} ({})", call, device_,
                             cudaGetErrorString(code), cudaGetErrorName(code));
    return false;
  }
  bool fail(std::string message) {
    if (message_.empty()) message_ = std::move(message);
    return false;
  }

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] bool failed() const { return !message_.empty(); }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  int device_;
  std::string message_;
};

}  // namespace tidemark
