// SPDX-License-Identifier: Apache-2.0
// All workloads that can be run by name: those of this folder, and what a user's own program has
// registered.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/session/workload.h"

namespace tidemark {

struct WorkloadInfo {
  std::string name;
  std::string description;
  std::vector<WorkloadCase> cases;
};

// Makes the workloads of this folder known, once, before the supervisor starts.
void register_workloads();
std::vector<WorkloadInfo> workloads();
std::optional<WorkloadInfo> find_workload(std::string_view name);

}  // namespace tidemark
