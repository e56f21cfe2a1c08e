// SPDX-License-Identifier: Apache-2.0
// What a CUDA program is given: the region as the GPU sees it, its arguments, and a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "tidemark/base/check.h"
#include "tidemark/device/cuda/cuda_check.cuh"
#include "tidemark/device/program_table.h"
#include "tidemark/transport/region.h"

namespace tidemark {

class CudaLaunch {
 public:
  CudaLaunch(CudaCheck* check, const RegionView& region, RegionDeviceWords* words,
             std::span<const std::byte> args, cudaStream_t stream)
      : check_(check), region_(region), words_(words), args_(args), stream_(stream) {}

  // Kernels take it by value, as a __grid_constant__ parameter.
  [[nodiscard]] const RegionView& region() const { return region_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] CudaCheck& checks() { return *check_; }

  template <class Args>
  [[nodiscard]] Args args() const {
    return args_from<Args>(args_);
  }

  bool check(cudaError_t code, std::string_view call) { return (*check_)(code, call); }
  // What no call said.
  bool fail(std::string message) { return check_->fail(std::move(message)); }
  // After a <<<>>>.
  bool launched(std::string_view kernel) { return (*check_)(cudaGetLastError(), kernel); }

  // Called when the program's kernels have ended well.
  void after(std::function<void(CudaLaunch&)> call) { after_ = std::move(call); }
  void finish() {
    if (after_) after_(*this);
  }

  // A number for whoever launched the program.
  void note_figure(std::uint32_t index, double value) {
    TM_CHECK(index < kFiguresMax);
    // alone: one word
    words_->figures[index].store_release(std::bit_cast<std::uint64_t>(value));
  }

 private:
  CudaCheck* check_;
  RegionView region_;
  RegionDeviceWords* words_;
  std::span<const std::byte> args_;
  cudaStream_t stream_;
  std::function<void(CudaLaunch&)> after_;
};

}  // namespace tidemark
