// SPDX-License-Identifier: Apache-2.0
// tidemark replay: one task's kernel again, on its captured inputs, beside its captured outputs.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include <fmt/core.h>

#include "tidemark/analyze/dump_index.h"
#include "tidemark/analyze/element_text.h"
#include "tidemark/base/align.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/run_summary.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/session/workload.h"

namespace tidemark::cli {
namespace {

struct ReplayArgs {
  std::string run;
  std::string task;
};

// The entries of one task, by argument.
struct Captured {
  std::map<std::uint32_t, const DumpEntry*> before, after;
};

Expected<Captured> find_task(const DumpIndex& index, std::uint64_t task, const std::string& text) {
  Captured captured;
  for (const auto& entry : index.entries) {
    if (entry.header.task_id != task) continue;
    const bool after = entry.header.stage == static_cast<std::uint8_t>(DumpStage::kAfterCompletion);
    (after ? captured.after : captured.before)[entry.header.arg_index] = &entry;
  }
  if (captured.before.empty() && captured.after.empty())
    return failure(ErrorKind::kUsage, "--task {}: nothing of it was dumped", text);
  return captured;
}

bool is_whole(const DumpEntry& entry) {
  return entry.header.payload_bytes == entry.header.logical_bytes;
}

// Arguments side by side in memory of ours, inputs filled.
Expected<ReplayTask> build(RunCapture& run, const Captured& captured) {
  ReplayTask task;
  const DumpHeader& any =
      (captured.before.empty() ? captured.after : captured.before).begin()->second->header;
  task.task = TaskId{any.task_id};
  task.block_count = any.block_count;
  std::copy(std::begin(any.kernels), std::end(any.kernels), task.kernels);
  std::uint64_t next = 0;
  for (std::uint32_t arg = 0;; ++arg) {
    const auto before = captured.before.find(arg);
    const auto after = captured.after.find(arg);
    if (before == captured.before.end() && after == captured.after.end()) break;
    const DumpEntry& entry = before == captured.before.end() ? *after->second : *before->second;
    const DumpHeader& header = entry.header;
    if (!entry.is_tensor()) {
      task.scalars.push_back({header.scalar, header.dtype});
      continue;
    }
    TensorShape shape{.rank = header.rank};
    std::copy(header.extent, header.extent + header.rank, shape.extent);
    StoredTensor tensor{};
    tensor.view = TensorView::row_major(next, static_cast<DType>(header.dtype), shape);
    tensor.access = header.access;
    task.tensors.push_back(tensor);
    task.memory.resize(next + round_up(header.logical_bytes, std::uint64_t{64}));
    if (before != captured.before.end()) {
      if (!is_whole(entry))
        return failure(ErrorKind::kUsage, "argument {} has no payload; run with --dump-tensor=full",
                       arg);
      const auto bytes = load_payload(run, entry);
      if (!bytes) return tl::unexpected(bytes.error());
      std::memcpy(task.memory.data() + next, bytes->data(), bytes->size());
    }
    next = task.memory.size();
  }
  const std::size_t known = task.tensors.size() + task.scalars.size();
  for (const auto* side : {&captured.before, &captured.after})
    for (const auto& [arg, entry] : *side)
      if (arg >= known)
        return failure(ErrorKind::kUsage,
                       "some of its arguments were not dumped; run with --dump-tensor=full");
  return task;
}

// True: the same bytes.
Expected<bool> compare(RunCapture& run, const ReplayTask& task, std::uint32_t arg,
                       const DumpEntry& entry) {
  const auto captured = load_payload(run, entry);
  if (!captured) return tl::unexpected(captured.error());
  const auto dtype = static_cast<DType>(entry.header.dtype);
  const std::uint64_t size = dtype_bytes(dtype);
  const auto* made =
      reinterpret_cast<const unsigned char*>(task.memory.data()) + task.tensors[arg].view.buffer;
  std::uint64_t differing = 0, first = 0;
  for (std::uint64_t i = 0; (i + 1) * size <= captured->size(); ++i)
    if (std::memcmp(captured->data() + i * size, made + i * size, size) != 0 && differing++ == 0)
      first = i;
  if (differing == 0) {
    print("  argument {}: {} elements, the same bytes{}\n", arg,
          with_commas(captured->size() / size),
          entry.stats.nan > 0 ? fmt::format(", {} NaN", entry.stats.nan) : "");
    return true;
  }
  print("  argument {}: {} elements differ, first [{}]: captured {}, replayed {}\n", arg,
        with_commas(differing), first, element_text(dtype, captured->data() + first * size),
        element_text(dtype, made + first * size));
  return false;
}

int replay(const ReplayArgs& args) {
  const auto directory = resolve_run(args.run);
  if (!directory) return report_error(directory.error());
  auto run = RunCapture::open(*directory);
  if (!run) return report_error(run.error());
  const auto index = read_dump(*run);
  if (!index) return report_error(index.error());
  const auto task = parse_task(args.task);
  if (!task)
    return report_error(
        {ErrorKind::kUsage, fmt::format("--task {}: not a task; write it as r1t42", args.task)});
  const std::string& name = run->description().run.workload;
  const WorkloadEntry* workload = find_registered_workload(name);
  if (workload == nullptr)
    return report_error({ErrorKind::kUsage, fmt::format("this program has no workload {}", name)});
  const auto captured = find_task(*index, *task, args.task);
  if (!captured) return report_error(captured.error());
  auto built = build(*run, *captured);
  if (!built) return report_error(built.error());
  print(
      "{} {} again, on what it read\n", task_text(*task),
      dump_kernel_name(
          *run,
          (captured->before.empty() ? captured->after : captured->before).begin()->second->header));
  workload->replay(*built);
  bool same = true;
  for (const auto& [arg, entry] : captured->after) {
    if (!entry->is_tensor() || !is_whole(*entry)) continue;
    const auto equal = compare(*run, *built, arg, *entry);
    if (!equal) return report_error(equal.error());
    same = same && *equal;
  }
  print("{}\n", same ? "reproduced" : "NOT reproduced");
  return same ? 0 : 1;
}

}  // namespace

void add_replay_command(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("replay", "Run one task's kernel again on its captured inputs");
  auto args = std::make_shared<ReplayArgs>();
  command->add_option("run", args->run, "Directory of the run (default: the newest in outputs/)");
  command->add_option("--task", args->task, "The task (r1t42, t42 or 0x…)")->required();
  command->callback([args, &outcome] { outcome.exit_code = replay(*args); });
}

}  // namespace tidemark::cli
