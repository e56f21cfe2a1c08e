// SPDX-License-Identifier: Apache-2.0
// Whose a run is while it goes on, and what can be known of that process from here: a recovery in
// another container or on another machine must not take a live run for a dead one.
#pragma once

#include <string>

#include "tidemark/run/run_report.h"

namespace tidemark {

enum class HostIs {
  kAlive,
  kGone,       // its process was looked for
  kOfOldBoot,  // and nothing of that boot is left
  kUnknown,
};
// `patient`: a process that was killed a moment ago may be seen for a little longer.
HostIs look_for_host(const RunReport& report, bool patient = true);

// True if the process is gone, also if it is only a moment later.
bool is_gone(const ProcessIdentity& host);

// Process, host, boot and pid namespace, in words.
std::string owner_text(const RunReport& report);

}  // namespace tidemark
