// SPDX-License-Identifier: Apache-2.0
// Recording from a program's own CUDA kernels, in its own process and context. One lane per
// producer is planned before launch; the kernel gets the region by value.
//
//   auto recording = tidemark::CudaRecording::start({.output_dir = "out", .lanes = lanes}).value();
//   my_kernel<<<…>>>(recording->region(), …);
//   recording->finish();   // waits for the device
//
// In the kernel, once per lane and thread (or warp, with write_many):
//
//   __global__ void my_kernel(const __grid_constant__ tidemark::RegionView region, …) {
//     tidemark::Recorder<tidemark::TaskSpan, tidemark::CudaEnv> recorder(&region, lane);
//     recorder.write({…});
//     recorder.close();
#pragma once

#include <bit>
#include <memory>

#include "tidemark/device/cuda/cuda_calibrate.cuh"
#include "tidemark/device/cuda/cuda_clock.cuh"
#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/session/recording.h"

namespace tidemark {

class CudaRecording {
 public:
  // On the current device. `options.lanes` says what the kernels write.
  static Expected<std::unique_ptr<CudaRecording>> start(RecordingOptions options) {
    int device = 0;
    cudaGetDevice(&device);
    std::unique_ptr<CudaRecording> started(new CudaRecording(device));
    options.platform = &platform_of(DeviceKind::kCuda);
    options.ticks_per_second = 1'000'000'000;  // of %globaltimer
    auto recording = Recording::start(options);
    if (!recording) return tl::unexpected(recording.error());
    started->recording_ = std::move(*recording);
    if (!started->open()) return failure(ErrorKind::kDevice, "{}", started->check_.message());
    return started;
  }
  ~CudaRecording() {
    if (recording_ != nullptr) (void)finish();
  }

  // For kernels, as a __grid_constant__ parameter.
  [[nodiscard]] const RegionView& region() const { return for_kernels_; }
  // For threads of this program that record, too.
  [[nodiscard]] Recording& host() { return *recording_; }

  // Waits for the device, drains, closes the capture and writes run.json.
  Expected<RunReport> finish() {
    if (recording_ == nullptr)
      return failure(ErrorKind::kUsage, "the recording is finished already");
    const std::unique_ptr<Recording> recording = std::move(recording_);
    ClockSample sample;
    const bool good = check_(cudaDeviceSynchronize(), "the recorded kernels") &&
                      sample_cuda_clock(check_, nullptr, sample);
    if (good) recording->note_clock(sample);
    auto report = recording->finish();
    cudaHostUnregister(recording->memory().base());
    if (!good && report) return failure(ErrorKind::kDevice, "{}", check_.message());
    return report;
  }

 private:
  explicit CudaRecording(int device) : check_(device) {}

  bool open() {
    const RegionMapping& memory = recording_->memory();
    void* mapped = nullptr;
    ClockSample sample;
    if (!check_(cudaHostRegister(memory.base(), memory.bytes(), cudaHostRegisterMapped),
                "cudaHostRegister of the region") ||
        !check_(cudaHostGetDevicePointer(&mapped, memory.base(), 0), "cudaHostGetDevicePointer") ||
        !sample_cuda_clock(check_, nullptr, sample))
      return false;
    double ns_per_record = 0;
    if (!calibrate_cuda_recorder(check_, nullptr, ns_per_record)) return false;
    recording_->region().header().device.figures[kFigureNsPerRecord].store_release(
        std::bit_cast<std::uint64_t>(ns_per_record));
    for_kernels_ = RegionView(mapped, recording_->region().layout());
    recording_->note_clock(sample);
    return true;
  }

  CudaCheck check_;
  RegionView for_kernels_;
  std::unique_ptr<Recording> recording_;
};

}  // namespace tidemark
