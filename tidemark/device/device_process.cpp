// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/device_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <thread>

#include "tidemark/base/fault_plan.h"
#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/device/cuda/task_kernel.h"
#include "tidemark/device/device_memory.h"
#include "tidemark/device/fault_text.h"
#include "tidemark/device/gpu_core.h"
#include "tidemark/device/program.h"
#include "tidemark/device/sim/crash_stack.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/device/supervisor.h"

namespace tidemark {
namespace {

constexpr int kExitBadLaunch = 70;

// Ends when `stop` becomes readable. The socket is only looked at: its messages belong to the
// supervisor.
void watch_host(int host_socket, int stop, const RegionView& region) {
  for (;;) {
    pollfd watched[2] = {{host_socket, POLLRDHUP, 0}, {stop, POLLIN, 0}};
    if (::poll(watched, 2, -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) return;
    if ((watched[0].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
      region.header().device.host_gone.store_release(1);  // [host gone]
      return;
    }
  }
}

RuntimeStatus* crash_status = nullptr;  // where the crash of a unit is reported

// Says which unit it was, then lets the signal do what it does.
void tell_crash(int number) {
  if (crash_status != nullptr) {
    crash_status->fault_unit.store_relaxed(sim_unit);
    crash_status->fault_signal.store_release(static_cast<std::uint32_t>(number));  // [crash noted]
  }
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void watch_crashes(const RegionView& region) {
  if (region.layout().shape.status_bytes < sizeof(RuntimeStatus)) return;
  crash_status = static_cast<RuntimeStatus*>(region.status());
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action {};
    action.sa_handler = tell_crash;
    action.sa_flags = SA_ONSTACK;  // of a unit that has no stack left
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace

void name_device(const RegionView& region) {
  const ProcessIdentity self = this_process();
  region.header().device.device_pid.store_relaxed(self.pid);
  // alone: half an identity names no process
  region.header().device.device_start_time.store_release(self.start_time);
}

int run_program(const ProgramRun& run) {
  const RegionView region(run.region);
  if (run.kind == DeviceKind::kCuda) {
    if (!has_cuda_program(run.program)) {
      write_fault(region.header(), fmt::format("{} has no program for CUDA devices", run.program));
      return kExitDeviceFault;
    }
    return run_cuda_program(run) ? 0 : kExitDeviceFault;
  }
  const DeviceProgram program = find_device_program(run.program);
  if (program == nullptr) {
    write_fault(region.header(), fmt::format("no device program {}", run.program));
    return kExitDeviceFault;
  }
  DeviceContext context(region, run.args, run.memory);
  RegionDeviceWords& words = region.header().device;
  words.launch_ticks.store_release(SimEnv::now_ticks());  // alone: one word
  program(context);
  words.finish_ticks.store_release(SimEnv::now_ticks());  // alone: one word
  return 0;
}

void run_device_process(const SupervisorMessage& launch, std::span<UniqueFd> files, int host_socket,
                        GpuCore* core) {
  ::prctl(PR_SET_NAME, "tidemark-device");
  std::size_t next = 0;
  const UniqueFd region = std::move(files[next++]);
  const UniqueFd memory = launch.memory_bytes > 0 ? std::move(files[next++]) : UniqueFd();
  const UniqueFd core_file = launch.passes_core != 0 ? std::move(files[next++]) : UniqueFd();
  if (core != nullptr && !(core_file.valid() && core->aim(core_file.get()))) core = nullptr;
  auto mapping = map_region(region.get(), "region", launch.region_bytes);
  if (!mapping) ::_exit(kExitBadLaunch);
  ::madvise(mapping->base(), mapping->bytes(), MADV_DONTDUMP);
  auto own_memory = map_device_memory(memory.get(), launch.memory_bytes);
  if (!own_memory) ::_exit(kExitBadLaunch);
  const RegionView view(mapping->base());
  name_device(view);
  ::signal(SIGXFSZ, SIG_DFL);
  const CrashStack crash_stack;
  watch_crashes(view);
  fault_plan.enter_device();
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  std::thread watcher([&] { watch_host(host_socket, stop.get(), view); });
  const int exit_code = run_program({.program = launch.program,
                                     .kind = launch.kind,
                                     .device = launch.device_number,
                                     .region = mapping->base(),
                                     .memory = own_memory->base(),
                                     .memory_fd = memory.get(),
                                     .memory_bytes = launch.memory_bytes,
                                     .args = {launch.args, launch.args_bytes},
                                     .core = core});
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop.get(), &one, sizeof(one));
  watcher.join();
  std::fflush(nullptr);
  ::_exit(exit_code);
}

void open_device_process(const SupervisorMessage& open, UniqueFd channel, int host_socket) {
  ::prctl(PR_SET_NAME, "tidemark-device");
  DeviceShape shape;
  auto core = open.wants_core != 0 ? GpuCore::arm() : nullptr;  // before CUDA is loaded
  if (const TaskKernel* kernel = find_task_kernel(open.program))
    shape = shape_of_cuda_device(*kernel, open.device_number);
  else
    std::strncpy(shape.error, "no such program of tasks", kShapeErrorBytes - 1);
  if (core != nullptr && !core->take_pipe()) core.reset();
  if (::send(channel.get(), &shape, sizeof(shape), MSG_NOSIGNAL) != sizeof(shape)) ::_exit(0);
  SupervisorMessage launch;
  std::array<UniqueFd, kPassedMax> files;
  if (!receive_message(channel.get(), launch, files)) ::_exit(0);  // there will be no launch
  launch.program[kProgramNameBytes - 1] = 0;
  run_device_process(launch, files, host_socket, core.get());
}

}  // namespace tidemark
