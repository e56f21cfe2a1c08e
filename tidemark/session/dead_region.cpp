// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/dead_region.h"

#include <cstring>

#include "tidemark/base/wait_until.h"
#include "tidemark/run/run_owner.h"
#include "tidemark/session/region_words.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kEndDeviceMs = 5000;
constexpr std::uint32_t kDeviceLeavesMs = 3500;  // a little longer than the supervisor's patience

}  // namespace

Expected<void> expect_read(const RegionPort& port, const std::string& path) {
  const int code = port.read_error();
  if (code == 0) return {};
  return failure(ErrorKind::kFile, "read {}: {}", path, std::strerror(code));
}

Expected<RegionFile> lock_region(const std::string& path) {
  return lock_when_free([&] { return open_region_file(path, RegionLock::kExclusive); }, kLockTries);
}

tl::unexpected<Error> still_going_on(const RunReport& report) {
  return failure(ErrorKind::kUsage, "the run is still going on: {}", owner_text(report));
}

bool keeps_its_pages(const RunReport& report) {
  const Platform* platform = find_platform(report.platform);
  return platform != nullptr && platform->transport == Transport::kPulled;
}

Expected<DeadRegion> take_region(const std::string& path, const RunReport& report, bool here) {
  DeadRegion dead;
  {
    TM_TRY(auto looked_at, open_region_file(path, RegionLock::kNone));
    TM_TRY(auto port, RegionPort::open(looked_at, Transport::kCopied));
    auto plan = read_plan(port, path);
    TM_TRY_DO(expect_read(port, path));
    if (!plan) return tl::unexpected(plan.error());
    if (plan->identity.run_id != report.run_id)
      return failure(ErrorKind::kDamage, "{} belongs to another run", path);
    const ProcessIdentity host{plan->identity.host_pid, plan->identity.host_start_time};
    if (here && !is_gone(host)) return still_going_on(report);
    // A device that keeps its pages brings over what it has when it sees that the host is gone, and
    // leaves or is ended by its supervisor.
    if (here && keeps_its_pages(report))
      wait_until([&] { return !is_alive(device_of(port)); }, kDeviceLeavesMs, kTryPauseMs);
    if (here && !end_process(device_of(port), kEndDeviceMs))
      return failure(ErrorKind::kDevice, "the leftover device process {} does not end",
                     device_of(port).pid);
    TM_TRY_DO(expect_read(port, path));
    dead.plan = std::move(*plan);
  }
  auto file = lock_region(path);
  if (!file && file.error().kind == ErrorKind::kUsage)
    return failure(ErrorKind::kUsage, "{} ({})", file.error().message, owner_text(report));
  if (!file) return tl::unexpected(file.error());
  dead.file = std::move(*file);
  TM_TRY(dead.port, RegionPort::open(dead.file, Transport::kCopied));
  return dead;
}

}  // namespace tidemark
