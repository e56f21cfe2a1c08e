// SPDX-License-Identifier: Apache-2.0
// One row per (task, kernel, block): the worker's span joined with what its scheduler saw of it.
// Both sides write in the order in which a core runs its work, so the join streams: it holds one
// page per lane, however long the run was.
#pragma once

#include <cstdint>
#include <functional>

#include "tidemark/run/run_capture.h"

namespace tidemark {

struct TaskRow {
  std::uint64_t task_id = 0;
  std::uint32_t block = 0;
  std::uint16_t kernel = 0;
  std::uint16_t core = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  // Known from level 2, unless that record was lost.
  bool has_finish = false;
  std::uint64_t dispatch_ticks = 0;
  std::uint64_t finish_ticks = 0;
};

// Rows of one core come in the order of their times; cores come interleaved.
void for_each_task_row(RunCapture& run, const std::function<void(const TaskRow&)>& fn);

}  // namespace tidemark
