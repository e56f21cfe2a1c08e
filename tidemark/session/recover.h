// SPDX-License-Identifier: Apache-2.0
// Recovery of a run whose host was killed: what the region still holds and the capture does not is
// appended to the capture, flagged, and the run gets its report. Running it again, also after it
// was itself killed, gives the same result.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tidemark/session/run_request.h"

namespace tidemark {

struct RecoverResult {
  RunReport report;
  bool already_complete = false;
  std::string file_error;
  std::uint64_t recovered_pages = 0;
  int exit_code = 0;
};

using ExportArtifacts =
    std::function<Expected<void>(const std::string& directory, RunReport& report)>;

Expected<RecoverResult> recover_run(const std::string& directory,
                                    const ExportArtifacts& export_artifacts);

}  // namespace tidemark
