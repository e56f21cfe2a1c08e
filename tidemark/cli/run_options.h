// SPDX-License-Identifier: Apache-2.0
// The flags of 'tidemark run' and how their texts become a request.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tidemark/base/command.h"
#include "tidemark/cli/dump_options.h"
#include "tidemark/cli/runtime_options.h"
#include "tidemark/cli/stream_options.h"
#include "tidemark/export/export_run.h"
#include "tidemark/session/run_request.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark::cli {

struct RunOptions {
  std::string case_name;  // empty: the first one
  std::string platform{default_platform().name};
  std::string isolation = "process";
  bool json = false;
  bool no_check = false;
  bool no_core_dump = false;
  bool no_sync = false;
  std::vector<std::string> policies;
  std::vector<std::string> injections;
  std::uint64_t export_limit = kExportLimitDefault;
  RuntimeOptions runtime;
  StreamSelection streams;
  DumpOptions dump;
  RunRequest request;                       // the flags that need no translation are bound to it
  std::map<std::string, LaunchPlan> plans;  // by workload, of those that have flags
};

void bind_run_options(Command& command, RunOptions& options);
// Checks and translates; the error names the flag.
Expected<RunRequest> make_request(const RunOptions& options);

}  // namespace tidemark::cli
