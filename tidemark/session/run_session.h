// SPDX-License-Identifier: Apache-2.0
// The front door: one run from its request to its files.
#pragma once

#include "tidemark/session/run_request.h"

namespace tidemark {

struct RunResult {
  RunReport report;
  std::string directory;
  std::string file_error;     // what could not be written; empty if all was
  bool keeps_region = false;  // and is still in shared memory, for a recovery
  int exit_code = 0;
};

// An error here means that nothing ran. Once the device was launched the answer is a result,
// whatever happened to it.
Expected<RunResult> run_session(const RunRequest& request);

}  // namespace tidemark
