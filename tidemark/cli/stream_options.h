// SPDX-License-Identifier: Apache-2.0
// The flags that say what a run records.
#pragma once

#include <CLI/CLI.hpp>

#include "tidemark/base/expected.h"
#include "tidemark/runtime/stream_lanes.h"

namespace tidemark::cli {

void bind_stream_options(CLI::App& command, StreamSelection& streams);
// The error names the flag.
Expected<void> check_streams(const StreamSelection& streams);

}  // namespace tidemark::cli
