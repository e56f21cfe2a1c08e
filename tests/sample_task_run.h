// SPDX-License-Identifier: Apache-2.0
// Test support: a run of vector_example with every stream and the dump on, device in this process.
#pragma once

#include <cstring>

#include "tidemark/session/register_workload.h"
#include "tidemark/session/run_session.h"
#include "tidemark/session/runtime_lanes.h"
#include "workloads/vector_example.h"

namespace tidemark::samples {

// Leaves a whole run in the directory.
inline RunResult write_task_run(const std::string& directory, std::uint32_t page_bytes = 4096,
                                BuildKind build = BuildKind::kTensorMap) {
  if (find_registered_workload(VectorExample::kName) == nullptr) register_workload<VectorExample>();
  const WorkloadEntry* workload = find_registered_workload(VectorExample::kName);
  RuntimeConfig config;
  config.build = build;
  config.streams[StreamId::kSwimlane] = 4;
  config.streams[StreamId::kEdges] = 1;
  config.streams[StreamId::kScopes] = 1;
  config.streams[StreamId::kDump] = 1;
  config.dump.level = DumpLevel::kFull;
  RunRequest request;
  request.workload = workload->name;
  request.platform = find_platform("sim");
  request.isolation = Isolation::kThread;
  request.output_dir = directory;
  request.sync = false;
  request.force = true;
  request.recorder.page_bytes = page_bytes;
  request.launch.program = workload->name;
  request.launch.kernels = workload->kernels;
  request.launch.lanes = runtime_lanes(config);
  request.launch.runtime = workload->plan({.case_name = "default", .seed = 0, .config = config});
  request.launch.args.resize(sizeof(RuntimeConfig));
  std::memcpy(request.launch.args.data(), &request.launch.runtime->config, sizeof(RuntimeConfig));
  auto result = run_session(request);
  TM_CHECK(result.has_value());
  return *result;
}

}  // namespace tidemark::samples
