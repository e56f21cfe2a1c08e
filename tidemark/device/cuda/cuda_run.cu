// SPDX-License-Identifier: Apache-2.0
// One run of a CUDA program in the process that owns the context. A hung kernel is ended by ending
// this process.
#include <dlfcn.h>
#include <stdlib.h>

#include <bit>
#include <memory>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/device/cuda/cuda_calibrate.cuh"
#include "tidemark/device/cuda/cuda_clock.cuh"
#include "tidemark/device/cuda/cuda_launch.cuh"
#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/device/cuda/page_puller.cuh"
#include "tidemark/device/device_process.h"
#include "tidemark/device/fault_text.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kOrphanGraceNs = 100'000'000;  // for the lanes to close by themselves
constexpr std::uint64_t kRescueAgainNs = 200'000'000;
constexpr std::uint64_t kLookPauseNs = 20'000;

class CudaRunner {
 public:
  CudaRunner(CudaProgram program, const ProgramRun& run)
      : program_(program), run_(run), check_(static_cast<int>(run.device)), region_(run.region) {}

  ~CudaRunner() {
    puller_.reset();
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
    if (registered_) cudaHostUnregister(run_.region);
  }

  bool run() {
    if (!open() || !calibrate() || !note_clock(check_) || !launch() || !wait())
      return report_fault();
    CudaCheck late(check_.device());
    note_clock(late);  // one reading is enough: a busy GPU is no fault of a run that ended well
    return true;
  }

 private:
  RegionDeviceWords& words() { return region_.header().device; }

  bool open() {
    // A module that is loaded at its first launch would wait for the kernel that never ends.
    ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    void* mapped = nullptr;
    if (!check_(cudaSetDevice(check_.device()), "cudaSetDevice") ||
        !check_(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost),
                "cudaSetDeviceFlags") ||
        !check_(cudaFree(nullptr), "creation of a context") ||
        !check_(cudaHostRegister(run_.region, region_.layout().total_bytes, cudaHostRegisterMapped),
                "cudaHostRegister of the region"))
      return false;
    registered_ = true;
    if (!check_(cudaHostGetDevicePointer(&mapped, run_.region, 0), "cudaHostGetDevicePointer") ||
        !check_(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"))
      return false;
    for_kernels_ = RegionView(mapped, region_.layout());
    if (region_.header().identity.keeps_pages == 0) return true;
    puller_ = std::make_unique<PagePuller>(&check_, region_);
    return puller_->open(RegionView(for_kernels_), for_kernels_);
  }

  bool note_clock(CudaCheck& check) {
    ClockSample sample;
    if (!sample_cuda_clock(check, stream_, sample)) return false;
    const std::uint32_t number = words().anchor_count.load_own();
    if (number == kClockAnchorsMax) return true;
    ClockAnchorWords& anchor = words().anchors[number];
    anchor.device_ticks.store_relaxed(sample.device_ticks);
    anchor.host_ns.store_relaxed(sample.host_ns);
    anchor.real_ns.store_relaxed(sample.real_ns);
    anchor.uncertainty_ns.store_relaxed(sample.uncertainty_ns);
    words().anchor_count.store_release(number + 1);  // [anchor noted]
    last_sample_ = sample;
    return true;
  }

  // Nanoseconds, like %globaltimer.
  std::uint64_t ticks_now() const {
    return last_sample_.device_ticks + (monotonic_ns() - last_sample_.host_ns);
  }

  bool calibrate() {
    double ns_per_record = 0;
    if (!calibrate_cuda_recorder(check_, stream_, ns_per_record)) return false;
    // alone: one word
    words().figures[kFigureNsPerRecord].store_release(std::bit_cast<std::uint64_t>(ns_per_record));
    return true;
  }

  bool launch() {
    launch_ = std::make_unique<CudaLaunch>(&check_, for_kernels_, &words(), run_.args, stream_);
    words().launch_ticks.store_release(ticks_now());  // alone: one word
    return program_(*launch_);
  }

  bool wait() {
    const bool ended = puller_ ? pull_until_the_end()
                               : check_(cudaStreamSynchronize(stream_), "the program's kernel");
    words().finish_ticks.store_release(ticks_now());  // alone: one word
    if (ended) launch_->finish();
    return ended;
  }

  bool pull_until_the_end() {
    for (;;) {
      const cudaError_t state = cudaStreamQuery(stream_);
      if (state != cudaErrorNotReady) {
        if (!check_(state, "the program's kernel")) return false;
        break;
      }
      if (rescued_) {  // the host reads: nothing is touched any more
        sleep_ns(kLookPauseNs);
        continue;
      }
      if (!puller_->step()) return false;
      if (puller_->idle()) sleep_ns(kLookPauseNs);
      if (!rescue_if_needed()) return false;
    }
    if (rescued_) return true;
    do
      if (!puller_->step()) return false;
    while (!puller_->idle());
    return rescue_at_last();
  }

  // A kernel that does not end will be ended with this process: what it has not published must be
  // in the region by then. A host says when it has given up. Where it is gone, nobody reads before
  // this process has ended, and the newest rescue is the best one.
  bool rescue_if_needed() {
    // pairs with [rescue asked]
    if (region_.header().host.rescue.load_acquire() != 0) return rescue_at_last();
    if (words().host_gone.load_acquire() == 0) return true;  // pairs with [host gone]
    const std::uint64_t now_ns = monotonic_ns();
    if (next_rescue_ns_ == 0) next_rescue_ns_ = now_ns + kOrphanGraceNs;
    if (now_ns < next_rescue_ns_) return true;
    next_rescue_ns_ = now_ns + kRescueAgainNs;
    return puller_->rescue();
  }

  bool rescue_at_last() {
    if (!puller_->rescue()) return false;
    words().rescued.store_release(1);  // [rescued]
    rescued_ = true;
    return true;
  }

  bool report_fault() {
    write_fault(region_.header(),
                check_.failed()
                    ? check_.message()
                    : fmt::format("the program gave up on CUDA device {}", check_.device()));
    return false;
  }

  CudaProgram program_;
  const ProgramRun& run_;
  CudaCheck check_;
  RegionView region_;  // as this process sees it
  RegionView for_kernels_;
  cudaStream_t stream_ = nullptr;
  bool registered_ = false;
  std::unique_ptr<PagePuller> puller_;
  std::uint64_t next_rescue_ns_ = 0;
  bool rescued_ = false;
  std::unique_ptr<CudaLaunch> launch_;
  ClockSample last_sample_;
};

}  // namespace

bool run_cuda_program(CudaProgram program, const ProgramRun& run) {
  auto runner = std::make_unique<CudaRunner>(program, run);
  if (runner->run()) return true;
  // A kernel may still be running, and giving memory back would wait for it. The end of the process
  // takes all of it.
  static_cast<void>(runner.release());
  return false;
}

Expected<std::vector<CudaDeviceInfo>> cuda_devices() {
  if (std::string why = why_no_cuda(); !why.empty()) return failure(ErrorKind::kDevice, "{}", why);
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess)
    return failure(ErrorKind::kDevice, "no CUDA device: {} ({})", cudaGetErrorString(code),
                   cudaGetErrorName(code));
  std::vector<CudaDeviceInfo> devices;
  for (int number = 0; number < count; ++number) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, number) != cudaSuccess) continue;
    devices.push_back(
        {.number = number,
         .name = properties.name,
         .multiprocessors = static_cast<std::uint32_t>(properties.multiProcessorCount),
         .memory_bytes = properties.totalGlobalMem,
         .compute_major = properties.major,
         .compute_minor = properties.minor});
  }
  return devices;
}

std::string why_no_cuda() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return "no NVIDIA driver on this machine (libcuda.so.1 was not found)";
  ::dlclose(driver);
  return {};
}

}  // namespace tidemark
