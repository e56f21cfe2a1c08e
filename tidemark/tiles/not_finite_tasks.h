// SPDX-License-Identifier: Apache-2.0
// The tasks that had a NaN or an infinity in what was dumped of them, and which of them made it, by
// the statistics in the dump. One pass over the dump lanes; only the ids are kept.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tidemark/run/run_capture.h"

namespace tidemark {

// Flags of tile_codec.h by task.
using TaskFlags = std::unordered_map<std::uint64_t, std::uint16_t>;

TaskFlags not_finite_tasks(RunCapture& run);

}  // namespace tidemark
