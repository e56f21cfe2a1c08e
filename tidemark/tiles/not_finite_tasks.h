// SPDX-License-Identifier: Apache-2.0
// The tasks that had a NaN or an infinity in what was dumped of them, by the statistics in the
// dump. One pass over the dump lanes; only the ids are kept.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "tidemark/run/run_capture.h"

namespace tidemark {

using TaskSet = std::unordered_set<std::uint64_t>;

TaskSet not_finite_tasks(RunCapture& run);

}  // namespace tidemark
