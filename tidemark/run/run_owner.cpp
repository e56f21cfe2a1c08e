// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/run_owner.h"

#include <fmt/core.h>

#include "tidemark/base/wait_until.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kHostGoneMs = 500;
constexpr std::uint32_t kLookAgainMs = 10;

}  // namespace

// A host that was killed a moment ago is still seen until the system has taken it apart.
bool is_gone(const ProcessIdentity& host) {
  return wait_until([&] { return !is_alive(host); }, kHostGoneMs, kLookAgainMs);
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
