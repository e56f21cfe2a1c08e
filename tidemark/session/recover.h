// SPDX-License-Identifier: Apache-2.0
// Recovery of a run whose host was killed: what the region still holds and the capture does not is
// appended to the capture, flagged, and the run gets its report. Running it again, also after it
// was itself killed, gives the same result.
#pragma once

#include <string>

#include "tidemark/session/run_request.h"

namespace tidemark {

struct RecoverResult {
  RunReport report;
  bool already_complete = false;
  // The file system refused records, which are still in the region: the run keeps both it and its
  // status `running`, and another recovery goes on where this one stopped.
  bool incomplete = false;
  std::string file_error;
  std::uint64_t recovered_pages = 0;
  std::uint64_t missing_bytes = 0;  // of records that found no space
  int exit_code = 0;
};

struct RecoverOptions {
  ExportArtifacts export_artifacts = {};
  // Whoever asks knows that the run is over, where this process cannot know it: the run was made on
  // another host, or in another container whose shared memory cannot be seen from here.
  bool host_is_gone = false;
  bool sync = true;
  std::uint64_t capture_limit = 0;  // a fault for tests: as for a run
};

// Refuses (kUsage) a run that is going on, or that cannot be proven to be over, and names its
// owner.
Expected<RecoverResult> recover_run(const std::string& directory, const RecoverOptions& options);

}  // namespace tidemark
