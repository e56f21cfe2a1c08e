// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/workload_entry.h"

#include <algorithm>

#include "tidemark/base/check.h"
#include "tidemark/session/run_request.h"

namespace tidemark {
namespace {

std::vector<WorkloadEntry>& table() {
  static std::vector<WorkloadEntry> entries;
  return entries;
}

}  // namespace

void add_workload(WorkloadEntry entry) {
  TM_CHECK(!entry.cases.empty() && (entry.plan || entry.bind_flags));
  auto& entries = table();
  std::erase_if(entries, [&](const WorkloadEntry& other) { return other.name == entry.name; });
  entries.push_back(std::move(entry));
}

const std::vector<WorkloadEntry>& registered_workloads() { return table(); }

const WorkloadEntry* find_registered_workload(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &WorkloadEntry::name);
  return found == table().end() ? nullptr : &*found;
}

bool exports_on_request(std::string_view name) {
  const WorkloadEntry* entry = find_registered_workload(name);
  return entry != nullptr && entry->exports_on_request;
}

}  // namespace tidemark
