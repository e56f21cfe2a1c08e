// SPDX-License-Identifier: Apache-2.0
// The flags that say what a run records.
#pragma once

#include "tidemark/base/command.h"
#include "tidemark/base/expected.h"
#include "tidemark/schema/stream_lanes.h"

namespace tidemark::cli {

void bind_stream_options(Command& command, StreamSelection& streams);
// The same with levels that can be. The error names the flag.
Expected<StreamSelection> check_streams(StreamSelection streams);

}  // namespace tidemark::cli
