// SPDX-License-Identifier: Apache-2.0
// The flags that say what a run records.
#pragma once

#include "tidemark/base/command.h"
#include "tidemark/base/expected.h"
#include "tidemark/schema/stream_lanes.h"

namespace tidemark::cli {

void bind_stream_options(Command& command, StreamSelection& streams);
// The error names the flag.
Expected<void> check_streams(const StreamSelection& streams);

}  // namespace tidemark::cli
