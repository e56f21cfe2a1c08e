// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/dump_diff.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "tidemark/analyze/element_text.h"
#include "tidemark/analyze/task_graph.h"
#include "tidemark/analyze/ulp_distance.h"

namespace tidemark {
namespace {

using ArgumentKey = std::tuple<std::uint64_t, DumpStage, std::uint8_t>;

ArgumentKey key_of(const DumpHeader& header) {
  return {header.task_id, header.stage, header.arg_index};
}

bool same_meaning(const DumpHeader& a, const DumpHeader& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.rank != b.rank) return false;
  return std::equal(a.extent, a.extent + a.rank, b.extent);
}

// True: they differ.
Expected<bool> compare(RunCapture& run_a, const DumpEntry& a, RunCapture& run_b, const DumpEntry& b,
                       const DiffTolerances& tolerances, ArgumentDiff& diff) {
  const auto dtype = a.header.dtype;
  if (!same_meaning(a.header, b.header)) {
    diff.only_in_one = true;
    return true;
  }
  if (!a.is_tensor()) {
    const auto* one = reinterpret_cast<const unsigned char*>(&a.header.scalar);
    const auto* other = reinterpret_cast<const unsigned char*>(&b.header.scalar);
    compare_elements(dtype, {one, one + dtype_bytes(dtype)}, {other, other + dtype_bytes(dtype)},
                     tolerances.others, diff);
    return diff.differing > 0;
  }
  if (a.has_stats() && b.has_stats() && a.stats.hash == b.stats.hash) return false;
  const bool has_payload = a.header.payload_bytes == a.header.logical_bytes &&
                           b.header.payload_bytes == b.header.logical_bytes;
  if (!has_payload) {
    diff.by_hash = true;
    return a.has_stats() && b.has_stats();
  }
  TM_TRY(const auto bytes_a, load_payload(run_a, a));
  TM_TRY(const auto bytes_b, load_payload(run_b, b));
  compare_elements(dtype, bytes_a, bytes_b, tolerances.of_tensors(dtype), diff);
  return diff.differing > 0;
}

}  // namespace

void compare_elements(DType dtype, const std::vector<unsigned char>& a,
                      const std::vector<unsigned char>& b, const DiffTolerance& tolerance,
                      ArgumentDiff& diff) {
  const std::uint64_t size = dtype_bytes(dtype);
  diff.elements = std::min(a.size(), b.size()) / size;
  for (std::uint64_t i = 0; i < diff.elements; ++i) {
    const unsigned char* one = a.data() + i * size;
    const unsigned char* other = b.data() + i * size;
    if (std::memcmp(one, other, size) == 0) continue;
    const double x = element_as_double(dtype, one), y = element_as_double(dtype, other);
    if (std::isnan(x) && std::isnan(y)) continue;
    const auto ulps = ulp_distance(dtype, one, other);
    // Of integers the distance itself: a double does not tell large ones apart.
    const double error = is_float(dtype) ? std::abs(x - y) : static_cast<double>(ulps.value_or(0));
    const bool comparable = ulps && !std::isinf(error);
    if (comparable && error <= tolerance.atol + tolerance.rtol * std::abs(y)) continue;
    if (ulps && *ulps <= tolerance.ulps) continue;
    if (diff.differing++ == 0) diff.first_index = i;
    diff.max_abs = std::max(diff.max_abs, comparable ? error : HUGE_VAL);
    diff.max_rel = std::max(diff.max_rel, comparable && y != 0 ? error / std::abs(y) : HUGE_VAL);
    if (comparable) diff.max_ulp = std::max(diff.max_ulp, *ulps);
  }
}

ArgumentDiff diff_of(const RunCapture& run, const DumpHeader& header) {
  return {.task_id = header.task_id,
          .stage = header.stage,
          .arg_index = header.arg_index,
          .kernel = dump_kernel_name(run, header),
          .is_output = header.stage == DumpStage::kAfterCompletion,
          .is_tensor = header.kind == DumpKind::kTensor};
}

std::vector<std::uint64_t> tasks_in_order(RunCapture& run, const DumpIndex& index) {
  std::vector<std::uint64_t> order;
  if (run.has(StreamId::kEdges))
    if (const auto graph = TaskGraph::load(run)) {
      for (const std::uint32_t task : graph->in_order(graph->links()))
        order.push_back(graph->tasks[task].task.task_id);
      return order;
    }
  std::map<std::uint64_t, std::uint64_t> first_seen;  // by task
  for (const auto& entry : index.entries) {
    const auto [found, fresh] = first_seen.emplace(entry.header.task_id, entry.header.time_ticks);
    if (!fresh) found->second = std::min(found->second, entry.header.time_ticks);
  }
  for (const auto& [task, ticks] : first_seen) order.push_back(task);
  std::ranges::stable_sort(order, {}, [&](std::uint64_t task) { return first_seen[task]; });
  return order;
}

void put_in_order(RunCapture& run, const DumpIndex& index, std::vector<ArgumentDiff> found,
                  DumpDiff& result) {
  std::map<std::uint64_t, std::vector<ArgumentDiff>> by_task;
  for (auto& diff : found) by_task[diff.task_id].push_back(std::move(diff));
  std::vector<std::uint64_t> order = tasks_in_order(run, index);
  const std::set<std::uint64_t> known(order.begin(), order.end());
  for (const auto& [task, diffs] : by_task)
    if (!known.contains(task)) order.push_back(task);
  for (const std::uint64_t task : order) {
    const auto differing = by_task.find(task);
    if (differing == by_task.end()) continue;
    const auto& diffs = differing->second;
    result.differences.insert(result.differences.end(), diffs.begin(), diffs.end());
    // A scalar comes from the program itself: where one differs, that is where the runs part.
    const bool inputs_differ = std::ranges::any_of(
        diffs, [](const ArgumentDiff& diff) { return !diff.is_output && diff.is_tensor; });
    if (!inputs_differ) result.first_divergent.push_back(task);
  }
}

Expected<DumpDiff> diff_dumps(RunCapture& one, RunCapture& other,
                              const DiffTolerances& tolerances) {
  TM_TRY(const auto index_a, read_dump(one));
  TM_TRY(const auto index_b, read_dump(other));
  std::map<ArgumentKey, const DumpEntry*> in_b;
  for (const auto& entry : index_b.entries) in_b[key_of(entry.header)] = &entry;
  DumpDiff result;
  std::vector<ArgumentDiff> found;
  for (const auto& entry : index_a.entries) {
    ArgumentDiff diff = diff_of(one, entry.header);
    const auto match = in_b.find(key_of(entry.header));
    if (match == in_b.end()) {
      diff.only_in_one = true;
      found.push_back(diff);
      continue;
    }
    ++result.compared;
    TM_TRY(const bool differ, compare(one, entry, other, *match->second, tolerances, diff));
    in_b.erase(match);
    if (differ) found.push_back(diff);
  }
  for (const auto& [key, entry] : in_b) {
    ArgumentDiff diff = diff_of(other, entry->header);
    diff.only_in_one = true;
    found.push_back(diff);
  }
  put_in_order(one, index_a, std::move(found), result);
  return result;
}

}  // namespace tidemark
