// SPDX-License-Identifier: Apache-2.0
// Everything a run is asked to be, decided before launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/collect/drainer.h"
#include "tidemark/device/device.h"
#include "tidemark/device/device_memory.h"
#include "tidemark/device/platform_table.h"
#include "tidemark/device/region_plan.h"
#include "tidemark/run/run_report.h"
#include "tidemark/schema/runtime_config.h"

namespace tidemark {

struct ResultCheck;

// What a task runtime needs besides: its sizes, its memory, and what the host does with it.
struct RuntimeLaunch {
  RuntimeConfig config;
  std::uint64_t memory_bytes = 0;
  // Fills the memory before launch; returns the status as the host leaves it, or nothing. A graph
  // that the host builds is recorded into the region, which is null where nothing is recorded.
  std::function<Expected<std::vector<std::byte>>(DeviceMemory&, const RegionView*)> prepare;
  // Compares the results with a reference.
  std::function<Expected<ResultCheck>(const DeviceMemory&)> check;
};

// What a workload needs of the device: its lanes, and the program that writes into them.
struct WorkloadLaunch {
  std::string program;
  std::vector<std::byte> args;
  std::vector<LaneRequest> lanes;  // policies are set by the session, unless they have theirs
  std::vector<std::string> kernels;
  std::optional<RuntimeLaunch> runtime;
};

struct RunProgress {
  std::uint64_t elapsed_ms = 0;
  std::uint64_t records = 0;
  std::uint64_t pages = 0;
  TaskCounts tasks;
};

// Writes the artifacts of a finished capture and says in the report what it left out.
using ExportArtifacts =
    std::function<Expected<void>(const std::string& directory, RunReport& report)>;

struct RunRequest {
  std::string workload;
  std::string case_name = "default";
  const Platform* platform = nullptr;
  std::string runtime = "none";  // the recorder alone
  Isolation isolation = Isolation::kProcess;
  std::uint32_t device = 0;
  std::uint64_t seed = 0;
  std::string output_dir;  // empty: a new one below outputs/
  bool force = false;
  bool sync = true;  // the files are on stable storage before the run is reported as ended

  Overflow policy = Overflow::kWait;  // unless the stream has its own
  std::map<StreamId, Overflow> stream_policy;
  bool lanes_have_policies = false;  // the lanes of the launch keep what they ask for
  std::uint32_t keep_pages = 8;
  RecorderSettings recorder;
  std::optional<std::uint32_t> op_timeout_ms;  // 0: none; unset: the platform's
  DrainInjection inject;
  std::uint64_t capture_limit = 0;  // a fault for tests: the capture finds no more space than this
  bool hold_device = true;    // for tests: false, and it goes on while it is collected, as a GPU
  bool check_results = true;  // with the workload's golden reference
  bool core_dump = true;      // of a GPU that hangs or crashes, where it can be had
  std::string inject_core;    // for tests: a file that is taken for the core dump of any device

  WorkloadLaunch launch;
  // The same launch for what the device says it holds, where only it can know.
  std::function<Expected<WorkloadLaunch>(const DeviceShape&)> plan_for;

  // Called while the run is under way, about ten times a second.
  std::function<void(const RunProgress&)> on_progress;
  // What a person should know at once, in a sentence.
  std::function<void(const std::string&)> on_notice;
  ExportArtifacts export_artifacts;
};

}  // namespace tidemark
