// SPDX-License-Identifier: Apache-2.0
// The autopsy of a run that was stopped: its state joined with its last records, as facts for a
// file and as the few lines a person reads first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tidemark/run/hang_text.h"
#include "tidemark/run/run_capture.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {

struct StuckReport {
  std::uint64_t task_id = 0;
  std::string kernel;
  std::optional<std::uint32_t> core;
  std::uint64_t since_ns = 0;  // after launch
  std::uint64_t for_ns = 0;
  std::string site;
  std::vector<std::string> waits_for;  // and who should tell it
  std::vector<std::uint64_t> waiters;  // also through others
};

struct HangReport {
  HangState state;
  std::string hang_class;
  std::string sentence;
  std::vector<StuckReport> stuck;  // worst first
  std::vector<std::string> chain;  // from the stuck task to the orchestrator
  std::map<std::uint32_t, std::vector<TaskSpan>> last_spans;  // by core, newest last
};

// Without a capture there are no last records.
HangReport make_hang_report(const HangState& state, RunCapture* run);

std::string unit_state_text(const UnitImage& line);
// "3 idle, 1 busy".
std::string core_states_text(const HangState& state);
// About ten lines, worst first. Of a recording without a runtime: its producers.
std::string hang_summary(const HangReport& report, const std::string& directory);

}  // namespace tidemark
