// SPDX-License-Identifier: Apache-2.0
// tidemark replay: one task's kernel again, on its captured inputs, beside its captured outputs.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include <fmt/core.h>

#include "tidemark/analyze/dump_index.h"
#include "tidemark/analyze/element_text.h"
#include "tidemark/base/align.h"
#include "tidemark/base/human_text.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/near_task.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/runtime/graph/submit_args.h"
#include "tidemark/session/replay_task.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark::cli {
namespace {

struct ReplayArgs {
  std::string run;
  std::string task;
  std::uint32_t timeout_ms = 10'000;
};

// The entries of one task, by argument. Outputs of a task that was stopped say only their shape.
struct Captured {
  std::map<std::uint32_t, const DumpEntry*> before, after, stopped;

  [[nodiscard]] const DumpHeader& any() const {
    return (before.empty() ? after : before).begin()->second->header;
  }
  [[nodiscard]] const DumpEntry* find(std::uint32_t arg) const {
    for (const auto* stage : {&before, &after, &stopped})
      if (const auto found = stage->find(arg); found != stage->end()) return found->second;
    return nullptr;
  }
};

Expected<Captured> find_task(const DumpIndex& index, std::uint64_t task, const std::string& text) {
  Captured captured;
  for (const auto& entry : index.entries) {
    if (entry.header.task_id != task) continue;
    if (entry.header.stage == DumpStage::kBeforeDispatch)
      captured.before[entry.header.arg_index] = &entry;
    if (entry.header.stage == DumpStage::kAfterCompletion)
      captured.after[entry.header.arg_index] = &entry;
    if (entry.header.stage == DumpStage::kAtHang) captured.stopped[entry.header.arg_index] = &entry;
  }
  if (captured.before.empty() && captured.after.empty())
    return failure(ErrorKind::kUsage, "--task {}: nothing of it was dumped{}", text,
                   near_task(index, text));
  return captured;
}

// An argument has one place in memory, whatever the capture says of it before and after.
bool are_alike(const DumpEntry& before, const DumpEntry& after) {
  return before.header.kind == after.header.kind && before.header.dtype == after.header.dtype &&
         before.header.logical_bytes == after.header.logical_bytes;
}

std::string argument_text(const ArgInfos& declared, std::uint32_t arg) {
  return fmt::format("{} ({})", arg, declared.items[arg].name);
}

// What the task's kernels take. In a mix each kernel has the same argument list.
Expected<ArgInfos> arguments_of(const WorkloadEntry& workload, const DumpHeader& header) {
  ArgInfos declared;
  if (header.block_count == 0 || header.block_count > kBlocksMax)
    return failure(ErrorKind::kDamage, "{}: {} blocks", task_text(header.task_id),
                   header.block_count);
  for (const std::uint16_t kernel : header.kernels) {
    if (kernel == kNoKernel) continue;
    if (kernel >= workload.kernel_infos.size())
      return failure(ErrorKind::kDamage, "{}: workload {} has no kernel {}",
                     task_text(header.task_id), workload.name, kernel);
    declared = workload.kernel_infos[kernel].args;
  }
  return declared;
}

// A kernel runs again only if the dump has every argument it takes, whole, as it is declared.
Expected<void> check_complete(const Captured& captured, const ArgInfos& declared) {
  std::string missing, cut;
  const auto add = [&](std::string& list, std::uint32_t arg) {
    list += (list.empty() ? "" : ", ") + argument_text(declared, arg);
  };
  for (std::uint32_t arg = 0; arg < declared.count; ++arg) {
    const ArgInfo& info = declared.items[arg];
    const auto before = captured.before.find(arg), after = captured.after.find(arg);
    const bool has_before = before != captured.before.end();
    const bool has_after = after != captured.after.end();
    const bool reads = info.role != ArgRole::kOut;
    const bool writes = info.role == ArgRole::kOut || info.role == ArgRole::kInout;
    if ((reads && !has_before) || (writes && !has_after && !captured.stopped.contains(arg))) {
      add(missing, arg);
      continue;
    }
    const DumpEntry& entry = *captured.find(arg);
    if (!entry.is_whole() || (has_after && !after->second->is_whole())) add(cut, arg);
    const auto access = entry.header.access;
    const bool fits =
        entry.is_tensor() ? role_takes(info.role, access) : info.role == ArgRole::kScalar;
    if (!fits || (!info.any_dtype && entry.header.dtype != info.dtype))
      return failure(ErrorKind::kDamage, "argument {} is not what its kernel declares",
                     argument_text(declared, arg));
    if (has_before && has_after && !are_alike(*before->second, *after->second))
      return failure(ErrorKind::kDamage, "argument {} has another size before and after",
                     argument_text(declared, arg));
  }
  if (!missing.empty())
    return failure(ErrorKind::kUsage,
                   "{}: not dumped: argument {}; run again with --dump-tensor=full and without "
                   "--dump-select",
                   task_text(captured.any().task_id), missing);
  if (!cut.empty())
    return failure(ErrorKind::kUsage,
                   "{}: dumped without all of its bytes: argument {}; run again with "
                   "--dump-tensor=full and a larger --dump-max-bytes",
                   task_text(captured.any().task_id), cut);
  return {};
}

// Arguments side by side in memory of ours, inputs filled.
Expected<ReplayTask> build(RunCapture& run, const Captured& captured, const ArgInfos& declared) {
  ReplayTask task;
  const DumpHeader& any = captured.any();
  task.task = TaskId{any.task_id};
  task.block_count = any.block_count;
  std::copy(std::begin(any.kernels), std::end(any.kernels), task.kernels);
  std::uint64_t next = 0;
  for (std::uint32_t arg = 0; arg < declared.count; ++arg) {
    const DumpEntry& entry = *captured.find(arg);
    const DumpHeader& header = entry.header;
    if (!entry.is_tensor()) {
      task.scalars.push_back({header.scalar, header.dtype});
      continue;
    }
    TensorShape shape{.rank = header.rank};
    std::copy(header.extent, header.extent + header.rank, shape.extent);
    StoredTensor tensor{};
    tensor.view = TensorView::row_major(next, header.dtype, shape);
    tensor.access = header.access;
    task.tensors.push_back(tensor);
    task.memory.resize(next + round_up(header.logical_bytes, std::uint64_t{64}));
    if (captured.before.contains(arg)) {
      TM_TRY(const auto bytes, load_payload(run, entry));
      std::memcpy(task.memory.data() + next, bytes.data(), bytes.size());
    }
    next = task.memory.size();
  }
  return task;
}

// True: the same bytes.
Expected<bool> compare(RunCapture& run, const ReplayTask& task, std::uint32_t arg,
                       const DumpEntry& entry) {
  TM_TRY(const auto captured, load_payload(run, entry));
  const auto dtype = entry.header.dtype;
  const std::uint64_t size = dtype_bytes(dtype);
  const auto* made =
      reinterpret_cast<const unsigned char*>(task.memory.data()) + task.tensors[arg].view.buffer;
  std::uint64_t differing = 0, first = 0;
  for (std::uint64_t i = 0; (i + 1) * size <= captured.size(); ++i)
    if (std::memcmp(captured.data() + i * size, made + i * size, size) != 0 && differing++ == 0)
      first = i;
  if (differing == 0) {
    print("  argument {}: {} elements, the same bytes{}\n", arg,
          with_commas(captured.size() / size),
          entry.stats.nan > 0 ? fmt::format(", {} NaN", entry.stats.nan) : "");
    return true;
  }
  print("  argument {}: {} elements differ, first [{}]: captured {}, replayed {}\n", arg,
        with_commas(differing), first, element_text(dtype, captured.data() + first * size),
        element_text(dtype, made + first * size));
  return false;
}

Expected<int> run_and_compare(RunCapture& run, const WorkloadEntry& workload, ReplayTask& task,
                              const Captured& captured) {
  workload.replay(task);
  if (captured.after.empty() && !captured.stopped.empty()) {
    print("NOT reproduced: the kernel returned; in the run it did not\n");
    return 1;
  }
  bool same = true;
  for (const auto& [arg, entry] : captured.after) {
    if (!entry->is_tensor() || arg >= task.tensors.size()) continue;
    TM_TRY(const auto equal, compare(run, task, arg, *entry));
    same = same && equal;
  }
  print("{}\n", same ? "reproduced" : "NOT reproduced");
  return same ? 0 : 1;
}

// In a process of its own: a kernel that crashes or never returns, perhaps on purpose, ends only
// that one.
template <class Run>
Expected<int> run_apart(std::uint32_t timeout_ms, const Run& run) {
  flush();
  const pid_t child = ::fork();
  if (child < 0) return file_failure("start a process for", "the kernel");
  if (child == 0) {
    const itimerval limit{
        .it_interval = {},
        .it_value = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000}};
    ::setitimer(ITIMER_REAL, &limit, nullptr);  // 0: none
    const Expected<int> result = run();
    const int exit_code = result ? *result : report_error(result.error());
    flush();
    ::_exit(exit_code);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (WTERMSIG(status) == SIGALRM)
    return failure(ErrorKind::kDevice, "the kernel did not return within {} ms (--timeout-ms)",
                   timeout_ms);
  return failure(ErrorKind::kDevice, "the kernel crashed again: signal {}", WTERMSIG(status));
}

Expected<int> replay(const ReplayArgs& args) {
  TM_TRY(const auto directory, resolve_run(args.run));
  TM_TRY(auto run, RunCapture::open(directory));
  TM_TRY(const auto index, read_dump(run));
  const auto task = parse_task(args.task);
  if (!task)
    return failure(ErrorKind::kUsage, "--task {}: not a task; write it as r1t42", args.task);
  const std::string& name = run.description().run.workload;
  const WorkloadEntry* workload = find_registered_workload(name);
  if (workload == nullptr)
    return failure(ErrorKind::kUsage, "this program has no workload {}", name);
  TM_TRY(const auto captured, find_task(index, *task, args.task));
  TM_TRY(const auto declared, arguments_of(*workload, captured.any()));
  TM_TRY_DO(check_complete(captured, declared));
  TM_TRY(auto built, build(run, captured, declared));
  print("{} {} again, on what it read\n", task_text(*task), dump_kernel_name(run, captured.any()));
  return run_apart(args.timeout_ms,
                   [&] { return run_and_compare(run, *workload, built, captured); });
}

}  // namespace

void add_replay_command(Command& program) {
  Command& command =
      program.command("replay", "Run one task's kernel again on its captured inputs");
  auto& args = add_run_arguments<ReplayArgs>(command, replay);
  command.option("--task", &args.task, "The task (r1t42, t42 or 0x…)", {.required = true});
  command.option("--timeout-ms", &args.timeout_ms,
                 "A kernel that has not returned after so long is ended; 0: never", kShowsDefault);
}

}  // namespace tidemark::cli
