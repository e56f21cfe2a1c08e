// SPDX-License-Identifier: Apache-2.0
#include "workloads/workload_table.h"

#include "workloads/bgemm.h"
#include "workloads/capacity_faults.h"
#include "workloads/hang_programs.h"
#include "workloads/mixed_example.h"
#include "workloads/nan_producer.h"
#include "workloads/paged_attention.h"
#include "workloads/refused_submits.h"
#include "workloads/slow_programs.h"
#include "workloads/spmd_blocks.h"
#include "workloads/synthetic_producer.h"
#include "workloads/vector_example.h"
#include "workloads/wide_tensors.h"

namespace tidemark {

void register_workloads() {
  register_synthetic_producer();
  register_workload<VectorExample>();
  register_workload<PagedAttention>();
  register_workload<Bgemm>();
  register_workload<MixedExample>();
  register_workload<SpmdBlocks>();
  register_workload<WideTensors>();
  register_workload<EmptyProgram>();
  register_workload<SlowKernel>();
  register_workload<Backpressure>();
  register_workload<NanProducer>();
  register_workload<HangKernel>();
  register_workload<HangOrchestration>();
  register_workload<HangScheduler>();
  register_workload<CrashKernel>();
  register_workload<ScopeDeadlock>();
  register_workload<HeapDeadlock>();
  register_workload<FlowControlDeadlock>();
  register_workload<DepPoolOverflow>();
  register_workload<TensormapOverflow>();
  register_workload<InvalidArgs>();
  register_workload<RequestTooLarge>();
  register_workload<SyncStartInvalid>();
  register_workload<TensorWaitTimeout>();
  register_workload<ExplicitFatal>();
  register_workload<ScopeDepthExceeded>();
}

std::vector<WorkloadInfo> workloads() {
  std::vector<WorkloadInfo> all;
  for (const auto& entry : registered_workloads())
    all.push_back({entry.name, entry.description, entry.cases});
  all.push_back({kSyntheticProducer,
                 "writes task spans at a chosen rate from a chosen number of lanes; no compute, so "
                 "it shows the recorder alone",
                 {{"default", ""}}});
  return all;
}

std::optional<WorkloadInfo> find_workload(std::string_view name) {
  for (auto& workload : workloads())
    if (workload.name == name) return workload;
  return std::nullopt;
}

}  // namespace tidemark
