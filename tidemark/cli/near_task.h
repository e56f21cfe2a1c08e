// SPDX-License-Identifier: Apache-2.0
// For errors about a task of which nothing was dumped: the nearest one that is there.
#pragma once

#include <string>

#include "tidemark/analyze/dump_index.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/run/task_text.h"

namespace tidemark::cli {

inline std::string near_task(const DumpIndex& index, const std::string& asked) {
  return did_you_mean(asked, index.entries,
                      [](const DumpEntry& entry) { return task_text(entry.header.task_id); });
}

}  // namespace tidemark::cli
