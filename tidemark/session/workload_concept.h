// SPDX-License-Identifier: Apache-2.0
// What a type must have to be a workload: a program's first compile error names what it lacks.
#pragma once

#include <concepts>
#include <string>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/device/sim/sim_units.h"

namespace tidemark {

struct WorkloadCase;
struct WorkloadSetup;
struct ResultCheck;
class EntryData;

template <class W>
concept HasKernels = requires {
  typename W::Kernels;
};

template <class W>
concept Orchestrates = requires(Orchestrator<typename W::Kernels, SimEnv>& orch,
                                const EntryArgs& entry) {
  W::orchestrate(orch, entry);
};

template <class W>
concept Workload = HasKernels<W> && Orchestrates<W> &&
    requires(const WorkloadSetup& setup, EntryData& data) {
  { W::kName } -> std::convertible_to<std::string>;
  { W::kDescription } -> std::convertible_to<std::string>;
  { W::cases() } -> std::convertible_to<std::vector<WorkloadCase>>;
  W::prepare(setup, data);
  { W::check(setup, data) } -> std::convertible_to<Expected<ResultCheck>>;
};

}  // namespace tidemark
