// SPDX-License-Identifier: Apache-2.0
// Places where a test may ask a process to end or to stop (--inject ACTION@POINT:N). Only their
// names: device code includes this, and what happens there is in base/fault_plan.h.
#pragma once

#include <cstdint>

namespace tidemark {

enum class FaultPoint : std::uint32_t {
  kPageSwitch,    // device: a full page is about to be given away
  kPublish,       // device: it is closed, but not published
  kBeforeCommit,  // device: the bytes of a fragment are there, its commit is not
  kMidPayload,    // device: between two pieces of a fragment
  kFlush,         // device: a lane is about to be closed
  kDrain,         // host: a page has been put into the capture, and not given back
  kRecovery,      // host: a page was read from the region of a run that ended badly
  kExport,        // host: an artifact is about to be written
  kReport,        // host: artifacts are there, run.json does not say so yet
};
inline constexpr std::uint32_t kFaultPointCount = 9;
inline constexpr const char* kFaultPointNames[kFaultPointCount] = {
    "page_switch", "publish",  "before_commit", "mid_payload", "flush",
    "drain",       "recovery", "export",        "report"};

}  // namespace tidemark
