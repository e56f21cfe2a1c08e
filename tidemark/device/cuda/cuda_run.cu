// SPDX-License-Identifier: Apache-2.0
// One run of a CUDA program in the process that owns the context. A hung kernel is ended by ending
// this process.
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/device/cuda/cuda_calibrate.cuh"
#include "tidemark/device/cuda/cuda_clock.cuh"
#include "tidemark/device/cuda/cuda_launch.cuh"
#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/device/cuda/cuda_tasks.cuh"
#include "tidemark/device/cuda/page_puller.cuh"
#include "tidemark/device/cuda/task_kernel.h"
#include "tidemark/device/cuda/unit_placement.h"
#include "tidemark/device/device.h"
#include "tidemark/device/device_process.h"
#include "tidemark/device/fault_text.h"
#include "tidemark/device/gpu_core.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kOrphanGraceNs = 100'000'000;  // for the lanes to close by themselves
constexpr std::uint64_t kRescueAgainNs = 200'000'000;
constexpr std::uint64_t kLookPauseNs = 20'000;
// Of an orchestration that calls itself: the compiler knows the stack of every other one.
constexpr std::size_t kStackBytes = 16 << 10;

// A module that is loaded at its first launch would wait for the kernel that never ends. A workload
// of tasks launches one kernel, which is loaded when its size is asked for.
void set_module_loading(bool lazy) { ::setenv("CUDA_MODULE_LOADING", lazy ? "LAZY" : "EAGER", 0); }

class CudaRunner;
CudaRunner* dumping_runner = nullptr;  // whose process the driver ends by abort()

class CudaRunner {
 public:
  explicit CudaRunner(const ProgramRun& run)
      : program_(find_cuda_program(run.program)),
        run_(run),
        check_(static_cast<int>(run.device)),
        region_(run.region) {
    if (const TaskKernel* kernel = find_task_kernel(run.program))
      tasks_ = std::make_unique<CudaTasks>(&check_, *kernel, run, region_);
  }

  ~CudaRunner() {
    puller_.reset();
    tasks_.reset();
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
    if (registered_) cudaHostUnregister(run_.region);
  }

  bool run() {
    if (run_.core != nullptr) {
      dumping_runner = this;
      ::signal(SIGABRT, [](int) { dumping_runner->end_after_dump(); });
    }
    if (!open() || !calibrate() || !note_clock(check_) || !launch() || !wait())
      return report_fault();
    CudaCheck late(check_.device());
    note_clock(late);  // one reading is enough: a busy GPU is no fault of a run that ended well
    return true;
  }

 private:
  RegionDeviceWords& words() { return region_.header().device; }

  bool open() {
    set_module_loading(tasks_ != nullptr);
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
    if (tasks_ && !tasks_->open()) return false;
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
    launched_ = tasks_ ? tasks_->launch(for_kernels_, stream_) : program_(*launch_);
    return launched_;
  }

  bool wait() {
    const bool ended = puller_  ? pull_until_the_end()
                       : tasks_ ? watch_until_the_end()
                                : check_(cudaStreamSynchronize(stream_), "the program's kernel");
    words().finish_ticks.store_release(ticks_now());  // alone: one word
    if (!ended) return false;
    launch_->finish();
    return !tasks_ || tasks_->bring_results(ticks_now());
  }

  bool watch_until_the_end() {
    for (;;) {
      const cudaError_t state = cudaStreamQuery(stream_);
      if (state != cudaErrorNotReady) return check_(state, "the program's kernel");
      if (!snap_if_asked()) return false;
      dump_core_if_asked();
      sleep_ns(kLookPauseNs);
    }
  }
  // The host looks at what tasks were doing.
  bool snap_if_asked() {
    if (!tasks_ || snapped_) return true;
    // pairs with [snapshot asked]
    if (region_.header().host.snapshot.load_acquire() == 0) return true;
    snapped_ = true;
    return tasks_->snapshot();
  }

  // Without waiting: the driver writes it in a thread of its own.
  void dump_core_if_asked() {
    if (core_told_) return;
    // pairs with [core asked]
    if (!core_asked_ && region_.header().host.core.load_acquire() == 0) return;
    const bool asks = !std::exchange(core_asked_, true);
    if (run_.core == nullptr || (asks && !run_.core->ask()))
      tell_core(kCoreRefused);
    else if (run_.core->is_written())
      tell_core(kCoreWritten);
  }
  void tell_core(std::uint32_t how) {
    words().core.store_release(how);  // [core told]
    core_told_ = true;
  }
  // The driver calls abort() behind a dump, in a thread of its own: nothing here takes a lock.
  [[noreturn]] void end_after_dump() {
    if (!run_.core->is_written()) {  // an abort of another kind
      ::signal(SIGABRT, SIG_DFL);
      ::abort();
    }
    if (core_asked_) {
      tell_core(kCoreWritten);
    } else {
      if (tasks_ && launched_) tasks_->name_crashed_unit();
      write_fault(region_.header(), "a kernel raised an exception of the GPU");
    }
    ::_exit(kExitDeviceFault);
  }

  bool pull_until_the_end() {
    for (;;) {
      const cudaError_t state = cudaStreamQuery(stream_);
      if (state != cudaErrorNotReady) {
        if (!check_(state, "the program's kernel")) return false;
        break;
      }
      if (!snap_if_asked()) return false;
      dump_core_if_asked();
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
    if (core_asked_) {  // the dump has ended the kernel
      const bool written = run_.core != nullptr && run_.core->is_written();
      if (!core_told_) tell_core(written ? kCoreWritten : kCoreRefused);
      return false;
    }
    if (tasks_ && launched_) tasks_->name_crashed_unit();
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
  std::unique_ptr<CudaTasks> tasks_;  // of a workload of tasks
  bool snapped_ = false;
  bool launched_ = false;
  bool core_asked_ = false;
  bool core_told_ = false;
  std::unique_ptr<CudaLaunch> launch_;
  ClockSample last_sample_;
};

// Fills in all but the error.
bool fill_shape(CudaCheck& check, const TaskKernel& kernel, DeviceShape& shape) {
  set_module_loading(true);
  int per_multiprocessor = 0;
  cudaDeviceProp properties{};
  cudaStream_t stream = nullptr;
  if (!check(cudaSetDevice(check.device()), "cudaSetDevice") ||
      !check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost),
             "cudaSetDeviceFlags") ||
      !check(cudaFree(nullptr), "creation of a context") ||
      !check(cudaDeviceSetLimit(cudaLimitStackSize, kStackBytes), "cudaDeviceSetLimit") ||
      !check(cudaGetDeviceProperties(&properties, check.device()), "cudaGetDeviceProperties") ||
      !check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(kernel.shared_bytes)),
             "loading of the kernel") ||
      !check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel.function,
                                                           kUnitThreads, kernel.shared_bytes),
             "occupancy of the kernel") ||
      !check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate"))
    return false;
  if (properties.cooperativeLaunch == 0) return check.fail("the GPU has no cooperative launch");
  shape.multiprocessors = static_cast<std::uint32_t>(properties.multiProcessorCount);
  // One of a multiprocessor: what shares one holds the other back.
  shape.resident_ctas = per_multiprocessor > 0 ? shape.multiprocessors : 0;
  const UnitPlan plan = plan_units(shape.resident_ctas);
  if (plan.clusters == 0)
    return check.fail(
        fmt::format("the GPU holds {} blocks of the kernel at the same time, and the "
                    "task runtime needs 5 at least",
                    shape.resident_ctas));
  shape.cluster_count = plan.clusters;
  shape.scheduler_count = plan.schedulers;
  std::memcpy(shape.device_name, properties.name, kDeviceNameBytes - 1);
  const bool good = sample_cuda_clock(check, stream, shape.clock);
  return check(cudaStreamDestroy(stream), "cudaStreamDestroy") && good;
}

}  // namespace

DeviceShape shape_of_cuda_device(const TaskKernel& kernel, std::uint32_t device) {
  DeviceShape shape;
  CudaCheck check(static_cast<int>(device));
  if (!fill_shape(check, kernel, shape)) check.message().copy(shape.error, kShapeErrorBytes - 1);
  return shape;
}

bool has_cuda_program(std::string_view name) {
  return find_cuda_program(name) != nullptr || find_task_kernel(name) != nullptr;
}

bool run_cuda_program(const ProgramRun& run) {
  auto runner = std::make_unique<CudaRunner>(run);
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
