// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/first_nan.h"

#include <set>

namespace tidemark {
namespace {

bool has_any(const DumpEntry& entry, NotFinite what) {
  if (!entry.is_tensor()) return false;
  return entry.stats.nan > 0 || (what == NotFinite::kNanOrInfinity && entry.stats.inf > 0);
}
bool is_written(const DumpEntry& entry) {
  return entry.header.stage == DumpStage::kAfterCompletion;
}

}  // namespace

NanReport find_first_nan(const DumpIndex& index, NotFinite what) {
  NanReport report;
  std::set<std::uint64_t> wrote, read;
  for (const DumpEntry& entry : index.entries)
    if (has_any(entry, what)) (is_written(entry) ? wrote : read).insert(entry.header.task_id);
  report.tasks_wrote = wrote.size();
  const auto is_before = [&](std::size_t one, const std::optional<std::size_t>& other) {
    return !other || index.entries[one].header.time_ticks < index.entries[*other].header.time_ticks;
  };
  for (std::size_t i = 0; i < index.entries.size(); ++i) {
    const DumpEntry& entry = index.entries[i];
    if (!has_any(entry, what)) continue;
    if (is_before(i, report.seen)) report.seen = i;
    if (!is_written(entry) || read.contains(entry.header.task_id)) continue;
    if (is_before(i, report.made)) report.made = i;
  }
  if (!report.made) return report;
  for (std::size_t i = 0; i < index.entries.size(); ++i)
    if (const DumpEntry& entry = index.entries[i];
        entry.header.task_id == index.entries[*report.made].header.task_id && entry.is_tensor() &&
        !is_written(entry))
      report.clean_inputs.push_back(i);
  return report;
}

}  // namespace tidemark
