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
//     recorder.at("load", tile);         // what it is doing, for who looks from outside
//     recorder.write({…});
//     recorder.close();
//
// finish({.still_ms = 5000}) does not wait for ever for a kernel that hangs.
#pragma once

#include <bit>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "tidemark/device/cuda/cuda_calibrate.cuh"
#include "tidemark/device/cuda/cuda_clock.cuh"
#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/session/own_core.h"
#include "tidemark/session/recording.h"

namespace tidemark {

class CudaRecording {
 public:
  // In front of the first CUDA call of the process, and of its threads: finish(limits) then asks
  // the driver for a light core dump of a kernel that hangs, keeps it as device.core and, where
  // there is cuda-gdb, names the source line of each producer that stopped. The kernel is over
  // behind that, and every CUDA call fails. False: dumps are asked for in another way already
  // (CUDA_COREDUMP_FILE and so on), or the system refused.
  static bool arm_core_dumps() {
    core_ = GpuCore::arm(GpuCore::In::kUsersProcess);
    return core_ != nullptr;
  }

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
    // The region stays where the kernel writes it, and nothing waits for the device.
    if (hung_) static_cast<void>(recording_.release());
    if (hung_) return;
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
    std::string fault = check_.message();
    if (const std::string said = recording_->fault_text(); !fault.empty() && !said.empty())
      fault = said + "; " + fault;
    auto report = recording_->finish(fault);
    cudaSetDevice(current);
    if (report && check_.failed()) return failure(ErrorKind::kDevice, "{}", check_.message());
    return report;
  }

  // The same, but if the device does not come to its end within the limits, the run is ended as a
  // hang: its report has exit code 3 and says in its error which producers stopped, at what and
  // since when; so does `tidemark hang` from then on. The kernel still runs: every call that waits
  // for the device waits for it. Leave with _exit.
  Expected<RunReport> finish(const FinishLimits& limits) {
    if (!opened_) return failure(ErrorKind::kUsage, "the recording is finished already");
    auto ending = std::make_shared<DeviceEnding>();
    // In a thread of its own: a wait for the device cannot be broken off.
    std::thread([ending, device = check_.device()] {
      cudaSetDevice(device);
      cudaDeviceSynchronize();  // finish() asks again and reports what it says
      ending->tell();
    }).detach();
    auto state =
        recording_->wait_until_over(limits, [&](std::uint32_t ms) { return ending->wait_for(ms); });
    if (!state) return finish();
    opened_ = false;
    hung_ = true;
    if (core_ != nullptr) state = with_own_core(*core_, recording_->directory(), *state);
    return recording_->finish_hung(std::move(state));
  }

 private:
  class DeviceEnding {
   public:
    void tell() {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      told_.notify_all();
    }
    bool wait_for(std::uint32_t ms) {
      std::unique_lock lock(mutex_);
      return told_.wait_for(lock, std::chrono::milliseconds(ms), [this] { return ended_; });
    }

   private:
    std::mutex mutex_;
    std::condition_variable told_;
    bool ended_ = false;
  };

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
    if (core_ != nullptr && !core_->take_pipe()) core_.reset();  // its driver does not listen
    opened_ = true;
    return true;
  }

  static inline std::unique_ptr<GpuCore> core_;
  CudaCheck check_;
  RegionView for_kernels_;
  cudaStream_t stream_ = nullptr;
  bool registered_ = false;
  bool opened_ = false;
  bool hung_ = false;  // a kernel still runs
  std::unique_ptr<Recording> recording_;
};

}  // namespace tidemark
