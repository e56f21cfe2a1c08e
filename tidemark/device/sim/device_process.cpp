// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/sim/device_process.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cstdio>

#include "tidemark/device/sim/sim_env.h"
#include "tidemark/device/sim/supervisor.h"

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
      region.header().device.host_gone.store_release(1);
      return;
    }
  }
}

}  // namespace

void run_program(DeviceProgram program, DeviceContext& context) {
  RegionDeviceWords& words = context.region().header().device;
  words.launch_ticks.store_release(SimEnv::now_ticks());
  program(context);
  words.finish_ticks.store_release(SimEnv::now_ticks());
}

void run_device_process(const SupervisorMessage& launch, UniqueFd region, int host_socket) {
  ::prctl(PR_SET_NAME, "tidemark-device");
  const DeviceProgram program = find_device_program(launch.program);
  auto mapping = map_region(region.get(), "region", launch.region_bytes);
  if (program == nullptr || !mapping) ::_exit(kExitBadLaunch);
  ::madvise(mapping->base(), mapping->bytes(), MADV_DONTDUMP);
  const RegionView view(mapping->base());
  const ProcessIdentity self = this_process();
  view.header().device.device_pid.store_relaxed(self.pid);
  view.header().device.device_start_time.store_release(self.start_time);

  UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  std::thread watcher([&] { watch_host(host_socket, stop.get(), view); });
  DeviceContext context(view, {reinterpret_cast<const std::byte*>(launch.args), launch.args_bytes});
  run_program(program, context);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop.get(), &one, sizeof(one));
  watcher.join();
  std::fflush(nullptr);
  ::_exit(0);
}

}  // namespace tidemark
