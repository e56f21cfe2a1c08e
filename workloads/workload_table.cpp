// SPDX-License-Identifier: Apache-2.0
#include "workloads/workload_table.h"

#include "workloads/synthetic_producer.h"

namespace tidemark {
namespace {

constexpr WorkloadInfo kWorkloads[] = {
    {kSyntheticProducer,
     "writes task spans at a chosen rate from a chosen number of lanes; no "
     "compute, so it shows the recorder alone",
     "default"},
};

}  // namespace

std::span<const WorkloadInfo> workloads() { return kWorkloads; }

const WorkloadInfo* find_workload(std::string_view name) {
  for (const auto& workload : kWorkloads)
    if (workload.name == name) return &workload;
  return nullptr;
}

}  // namespace tidemark
