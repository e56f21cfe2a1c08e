// SPDX-License-Identifier: Apache-2.0
// A hang in words: the one sentence a person reads first.
#pragma once

#include <string>

#include "tidemark/run/hang_state.h"
#include "tidemark/schema/unit_state.h"

namespace tidemark {

// Nothing: the state has no such task.
const StuckTask* find_task(const HangState& state, std::uint64_t id);
// All that wait for a task, also through others.
std::vector<std::uint64_t> waiters_of(const HangState& state, std::uint64_t id);
// Where a unit stood: of its stacks the one with an exception, otherwise the first. Null: not
// known.
const UnitStack* worst_stack(const HangState& state, std::uint32_t unit);
std::string kernel_text(const HangState& state, std::uint32_t kernel);
// What a unit is or was doing, and since when: the state it left in, if it left.
UnitState doing(const UnitImage& line);
bool is_running(const UnitImage& line);  // in a kernel, or copies arguments for one
std::uint64_t doing_since_ticks(const UnitImage& line);
std::uint64_t ns_of(const HangState& state, std::uint64_t ticks);
// Of a time of the device: nanoseconds between it and the moment of the finding.
std::uint64_t ns_before(const HangState& state, std::uint64_t ticks);
std::uint64_t ns_since_launch(const HangState& state, std::uint64_t ticks);

// Where a task was submitted, "paged_attention.h:88"; empty: not known.
std::string site_of(const HangState& state, std::uint64_t task);
// " on SM 17", where the device says it; else nothing.
std::string place_text(const UnitImage& line);

// "core 3 has been in kernel `softmax` of task r1t42 (paged_attention.h:88) for 10.0 s; 17 tasks
// wait for it; the orchestrator waits for ring 1's task window".
std::string hang_sentence(const HangState& state);
// What holds the orchestrator back, "the orchestrator is blocked on ring 1's heap"; empty: nothing
// does. The other one leaves out "the".
std::string orchestrator_text(const HangState& state);
std::string what_orchestrator_waits_for(const HangState& state);
// Tasks that wait for each other, first and last the same; empty: there is no circle.
std::vector<std::uint64_t> find_circle(const HangState& state);
// The tasks that the hang is about, worst first.
std::vector<std::uint64_t> stuck_tasks(const HangState& state);
// The core that runs a task, or ran it last.
std::optional<std::uint32_t> core_of(const HangState& state, std::uint64_t task);

}  // namespace tidemark
