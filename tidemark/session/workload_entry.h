// SPDX-License-Identifier: Apache-2.0
// What is known of a workload by its name: its cases, its kernels, how it is planned, replayed and
// verified. register_workload.h makes an entry of a type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/runtime/kernel_info.h"
#include "tidemark/schema/runtime_config.h"

namespace tidemark {

struct CapturedPage;
struct Command;
struct Platform;
struct ReplayTask;
struct RuntimeLaunch;
struct WorkloadLaunch;

struct WorkloadCase {
  std::string name;
  std::string description;
};

// What prepare and check know of the run.
struct WorkloadSetup {
  std::string case_name;
  std::uint64_t seed = 0;
  RuntimeConfig config;  // entry_bytes is not known yet
};

using LaunchPlan = std::function<Expected<WorkloadLaunch>(const Platform&)>;

struct WorkloadEntry {
  std::string name;
  std::string description;
  std::vector<WorkloadCase> cases;  // the first one is the default
  // Of a workload of tasks.
  std::function<RuntimeLaunch(const WorkloadSetup&)> plan = {};
  std::vector<std::string> kernels = {};
  std::vector<KernelInfo> kernel_infos = {};  // by the same number
  std::function<void(ReplayTask&)> replay = {};
  bool device_builds = false;  // its orchestration is not for the host: host_build_graph is refused
  // Adds the workload's own flags to a command and returns what plans a launch as they say. Without
  // `plan`, the workload has neither tasks nor scopes, and this is the way to launch it.
  std::function<LaunchPlan(Command&)> bind_flags = {};
  // Judges a page of such a run: returns how many records were found true, appends what was not.
  std::function<std::uint64_t(const CapturedPage&, std::vector<std::string>&)> verify_page = {};
  bool exports_on_request = false;  // no artifact is made unless asked for
};

void add_workload(WorkloadEntry entry);
const std::vector<WorkloadEntry>& registered_workloads();
const WorkloadEntry* find_registered_workload(std::string_view name);
// False for a workload that is not known here.
bool exports_on_request(std::string_view name);

}  // namespace tidemark
