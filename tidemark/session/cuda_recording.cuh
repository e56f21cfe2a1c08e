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
  // On the current device. `options.lanes` says what the kernels write, each with its own policy.
  static Expected<std::unique_ptr<CudaRecording>> start(RecordingOptions options) {
    int device = 0;
    cudaGetDevice(&device);
    std::unique_ptr<CudaRecording> started(new CudaRecording(device));
    options.platform = &platform_of(DeviceKind::kCuda);
    options.ticks_per_second = 1'000'000'000;  // of %globaltimer
    TM_TRY(started->recording_, Recording::start(options));
    if (started->open()) return started;
    started->recording_->abandon();
    return failure(ErrorKind::kDevice, "{}", started->check_.message());
  }
  ~CudaRecording() {
    if (opened_ && recording_ != nullptr) (void)finish();
    if (registered_) cudaHostUnregister(recording_->memory().base());
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  // For kernels, as a __grid_constant__ parameter.
  [[nodiscard]] const RegionView& region() const { return for_kernels_; }

  // Waits for the device, drains, closes the capture and writes run.json. A kernel that failed is
  // in the report as a device fault.
  Expected<RunReport> finish() {
    if (!opened_) return failure(ErrorKind::kUsage, "the recording is finished already");
    opened_ = false;
    int current = 0;
    cudaGetDevice(&current);
    cudaSetDevice(check_.device());
    ClockSample sample;
    if (check_(cudaDeviceSynchronize(), "the recorded kernels") &&
        sample_cuda_clock(check_, stream_, sample))
      recording_->note_clock(sample);
    auto report = recording_->finish(check_.message());
    cudaSetDevice(current);
    if (report && check_.failed()) return failure(ErrorKind::kDevice, "{}", check_.message());
    return report;
  }

 private:
  explicit CudaRecording(int device) : check_(device) {}

  bool open() {
    const MappedMemory& memory = recording_->memory();
    void* mapped = nullptr;
    ClockSample sample;
    double ns_per_record = 0;
    registered_ = check_(cudaHostRegister(memory.base(), memory.bytes(), cudaHostRegisterMapped),
                         "cudaHostRegister of the region");
    // A stream of our own: kernels of the program may be running already.
    if (!registered_ ||
        !check_(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate") ||
        !check_(cudaHostGetDevicePointer(&mapped, memory.base(), 0), "cudaHostGetDevicePointer") ||
        !calibrate_cuda_recorder(check_, stream_, ns_per_record) ||
        !sample_cuda_clock(check_, stream_, sample))
      return false;
    recording_->region().header().device.figures[kFigureNsPerRecord].store_release(
        std::bit_cast<std::uint64_t>(ns_per_record));
    for_kernels_ = RegionView(mapped, recording_->region().layout());
    recording_->note_clock(sample);
    opened_ = true;
    return true;
  }

  CudaCheck check_;
  RegionView for_kernels_;
  cudaStream_t stream_ = nullptr;
  bool registered_ = false;
  bool opened_ = false;
  std::unique_ptr<Recording> recording_;
};

}  // namespace tidemark
