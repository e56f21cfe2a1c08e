// SPDX-License-Identifier: Apache-2.0
// How a run ends: the wait for the device with its watchdogs, and the steps of the abnormal path
// up to the reset. run_session.cpp calls them in their order.
#pragma once

#include <optional>

#include "tidemark/session/active_run.h"
#include "tidemark/session/host_watchdog.h"
#include "tidemark/session/signal_watch.h"

namespace tidemark {

// How the wait for the device ended.
struct Ending {
  std::optional<DeviceExit> exit = {};  // nothing: the device still runs
  int signal = 0;
  bool timed_out = false;                   // --op-timeout-ms
  std::optional<HangFinding> finding = {};  // the host's watchdog
  bool had_its_time = false;                // an error is latched, and not all units left

  [[nodiscard]] bool is_well() const { return exit && exit->is_well(); }
};

Ending wait_for_device(Device& device, ActiveRun& run, const RunRequest& request,
                       const SignalWatch& signals);

// The clock of a simulated device is read here; a GPU's process leaves its readings in the region.
void note_clock(Device& device, ActiveRun& run);

// The error of a device that did not end well. `fault_text`: what it says itself; may be empty.
RunError device_fault(const DeviceExit& exit, const std::string& fault_text);

// Says in the report what happened, before anything is cleaned up: status, error, and for a run
// that did not go well, the state of the runtime.
void classify(const Ending& ending, const RunRequest& request, ActiveRun& run,
              const std::optional<DeviceMemory>& memory);

// Abort, then wait (bounded) for the lanes to flush and close. Nothing: the device did not leave by
// itself. `had_its_time`: it knows already that it is to end.
std::optional<DeviceExit> wind_down(Device& device, ActiveRun& run, bool had_its_time);

// Puts what the reset will destroy into the capture: the runtime's state, and what the tasks that
// were running had written so far.
void keep_evidence(const RunRequest& request, ActiveRun& run,
                   const std::optional<DeviceMemory>& memory, bool still_running);

}  // namespace tidemark
