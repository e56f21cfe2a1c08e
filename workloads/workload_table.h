// SPDX-License-Identifier: Apache-2.0
// The one table of workloads.
#pragma once

#include <span>
#include <string_view>

namespace tidemark {

struct WorkloadInfo {
  std::string_view name;
  std::string_view description;
  std::string_view cases;
};

std::span<const WorkloadInfo> workloads();
const WorkloadInfo* find_workload(std::string_view name);

}  // namespace tidemark
