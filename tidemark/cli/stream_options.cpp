// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/stream_options.h"

namespace tidemark::cli {

void bind_stream_options(Command& command, StreamSelection& streams) {
  command.group = "Streams (none: nothing is recorded, and nothing is paid)";
  command.flag("--enable-l2-swimlane{4}", &streams.swimlane_level,
               "Task timing. =1: start and end of every block; =2: also dispatch and finish; =3: "
               "also scheduler phases; =4 or bare: also submits");
  command.flag("--enable-dep-gen", &streams.edges,
               "The task graph: tasks, tensors, and every dependency with its reason");
  command.flag("--enable-scope-stats", &streams.scopes,
               "Begin and end of every scope, with the peaks of rings and pools inside it");
}

Expected<void> check_streams(const StreamSelection& streams) {
  if (streams.swimlane_level > kSwimlaneLevelMax)
    return failure(ErrorKind::kUsage, "--enable-l2-swimlane={}: a level from 1 to {}",
                   streams.swimlane_level, kSwimlaneLevelMax);
  return {};
}

}  // namespace tidemark::cli
