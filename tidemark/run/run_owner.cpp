// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/run_owner.h"

#include <fmt/core.h>

#include "tidemark/base/monotonic_clock.h"

namespace tidemark {
namespace {

constexpr int kHostGoneTries = 50;
constexpr std::uint32_t kLookAgainMs = 10;

}  // namespace

// A host that was killed a moment ago is still seen until the system has taken it apart.
bool is_gone(const ProcessIdentity& host) {
  for (int attempt = 1; is_alive(host); ++attempt) {
    if (attempt == kHostGoneTries) return false;
    sleep_ms(kLookAgainMs);
  }
  return true;
}

HostIs look_for_host(const RunReport& report, bool patient) {
  if (report.boot_id == boot_id()) {
    if (report.pid_namespace != 0 && report.pid_namespace != pid_namespace())
      return HostIs::kUnknown;
    const bool gone = patient ? is_gone(report.host) : !is_alive(report.host);
    return gone ? HostIs::kGone : HostIs::kAlive;
  }
  // The same machine, started again: nothing of that boot is left.
  return report.host_id == host_id() && report.host_name == host_name() ? HostIs::kOfOldBoot
                                                                        : HostIs::kUnknown;
}

std::string owner_text(const RunReport& report) {
  return fmt::format("host process {} on {} (boot {}, pid namespace {})", report.host.pid,
                     report.host_name.empty() ? "an unnamed host" : report.host_name,
                     report.boot_id.substr(0, 8), report.pid_namespace);
}

}  // namespace tidemark
