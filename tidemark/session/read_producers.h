// SPDX-License-Identifier: Apache-2.0
// The producers of a recording as its region shows them, live or after they are gone. Nothing of it
// is trusted: names come from the region's table by number, numbers are checked.
#pragma once

#include "tidemark/collect/region_port.h"
#include "tidemark/run/hang_state.h"

namespace tidemark {

// All lanes that are planned or open and not closed; how many are closed goes into `ended`.
std::vector<ProducerState> read_producers(const RegionPort& port, const RegionPlan& plan,
                                          std::uint64_t& ended);

// The state of a recording: its producers, and the run's clock when it was read. `now_ns`: of the
// host's clock, CLOCK_MONOTONIC; the device's is told from the newest reading of it.
HangState read_recording_state(const RegionPort& port, const RegionPlan& plan,
                               const std::vector<ClockSample>& anchors, std::uint64_t now_ns);

}  // namespace tidemark
