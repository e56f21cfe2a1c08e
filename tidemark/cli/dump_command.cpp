// SPDX-License-Identifier: Apache-2.0
// tidemark dump: what every task read and wrote. tidemark dump diff: where two runs part.
#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "tidemark/analyze/dump_diff.h"
#include "tidemark/analyze/element_text.h"
#include "tidemark/analyze/first_nan.h"
#include "tidemark/base/human_text.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/dump_files.h"
#include "tidemark/cli/file_mode_option.h"
#include "tidemark/cli/near_task.h"
#include "tidemark/cli/terminal.h"

namespace tidemark::cli {
namespace {

struct DumpArgs {
  std::string run;
  std::string task, kernel, stage, role;
  std::optional<std::uint32_t> arg;
  std::optional<std::size_t> index;
  bool stats = false;
  bool nan = false;
  std::size_t limit = 50;
  std::string export_dir;
  std::string format = "txt";
};

struct DiffArgs {
  std::string one, other;
  FileDiffOptions options;
  std::string tolerance;
  std::size_t limit = 20;
};

std::string shape_text(const DumpHeader& header) {
  if (header.rank == 0) return "-";
  return fmt::format("{}", fmt::join(header.extent, header.extent + header.rank, "x"));
}

const char* stage_word(DumpStage stage) {
  return stage == DumpStage::kBeforeDispatch    ? "before"
         : stage == DumpStage::kAfterCompletion ? "after"
                                                : "hang";
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

void print_head(bool stats) {
  print("  {:>5}  {:<12} {:<16} {:<6} {:>3} {:<6} {:<9} {:<16} {:>11}", "index", "task", "kernel",
        "stage", "arg", "role", "dtype", "shape", "bytes");
  if (stats)
    print(" {:>12} {:>12} {:>12} {:>6} {:>6} {:>8}  {}", "min", "max", "mean", "nan", "inf", "zero",
          "hash");
  print("\n");
}

void print_entry(const RunCapture& run, std::size_t index, const DumpEntry& entry, bool stats) {
  const DumpHeader& header = entry.header;
  const auto dtype = header.dtype;
  print("  {:>5}  {:<12} {:<16} {:<6} {:>3} {:<6} {:<9} {:<16} {:>11}", index,
        task_text(header.task_id), dump_kernel_name(run, header), stage_word(header.stage),
        header.arg_index, entry.is_tensor() ? role_text(header.access) : "scalar", to_text(dtype),
        entry.is_tensor() ? shape_text(header) : element_text(dtype, &header.scalar),
        header.payload_bytes);
  if (stats && entry.has_stats())
    print(" {:>12} {:>12} {:>12} {:>6} {:>6} {:>8}  {:016x}", number(entry.stats.min),
          number(entry.stats.max), number(entry.stats.mean), entry.stats.nan, entry.stats.inf,
          entry.stats.zero, entry.stats.hash);
  print("{}\n", (header.flags & kDumpTruncated) != 0 ? "  (cut)" : "");
}

// Which entries the filters leave, by their place in the list.
Expected<std::vector<std::size_t>> filter(const RunCapture& run, const DumpIndex& index,
                                          const DumpArgs& args) {
  std::optional<std::uint64_t> task;
  if (!args.task.empty()) {
    task = parse_task(args.task);
    if (!task)
      return failure(ErrorKind::kUsage, "--task {}: not a task; write it as r1t42, t42 or 0x…",
                     args.task);
    const auto is_of_task = [&](const DumpEntry& entry) { return entry.header.task_id == *task; };
    if (std::none_of(index.entries.begin(), index.entries.end(), is_of_task))
      return failure(ErrorKind::kUsage, "--task {}: nothing of it was dumped{}", args.task,
                     near_task(index, args.task));
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < index.entries.size(); ++i) {
    const DumpHeader& header = index.entries[i].header;
    const std::string_view stage = to_text(header.stage);
    if (args.index && *args.index != i) continue;
    if (task && header.task_id != *task) continue;
    if (!args.kernel.empty() && dump_kernel_name(run, header) != args.kernel) continue;
    if (!args.stage.empty() && !stage.starts_with(args.stage)) continue;
    if (!args.role.empty() && args.role != role_text(header.access)) continue;
    if (args.arg && *args.arg != header.arg_index) continue;
    found.push_back(i);
  }
  return found;
}

// The first task that made a NaN or an infinity of inputs that had none.
int print_nan(const RunCapture& run, const DumpIndex& index) {
  const NanReport report = find_first_nan(index);
  if (!report.made) {
    print("{}\n", report.tasks_wrote == 0 ? "no task wrote a NaN or an infinity"
                                          : "every task that wrote one had read one");
    return 0;
  }
  const std::uint64_t task = index.entries[*report.made].header.task_id;
  print("{} is the first task that made a NaN or an infinity of inputs without one\n",
        task_text(task));
  print_head(true);
  for (std::size_t i = 0; i < index.entries.size(); ++i)
    if (index.entries[i].header.task_id == task) print_entry(run, i, index.entries[i], true);
  print("{} task{} wrote one in all\n", report.tasks_wrote, report.tasks_wrote == 1 ? "" : "s");
  return 0;
}

void print_totals(const DumpIndex& index, std::size_t matching) {
  std::uint64_t bytes = 0;
  for (const auto& entry : index.entries) bytes += entry.header.payload_bytes;
  print("  {} arguments, {} of payload", with_commas(index.entries.size()), human_bytes(bytes));
  if (matching != index.entries.size()) print("; {} match", with_commas(matching));
  print("\n");
  if (index.dropped + index.overwritten > 0)
    print("  {} dropped, {} overwritten\n", with_commas(index.dropped),
          with_commas(index.overwritten));
  for (const auto& argument : index.invalid)
    print("  {} points outside of the device's memory and was not read\n", argument);
  if (index.skipped_tasks > 0)
    print("  {} tasks were skipped, their arguments are words that nobody described: {}\n",
          with_commas(index.skipped_tasks), joined(index.skipped_kernels, ", "));
}

Expected<int> show(const DumpArgs& args) {
  TM_TRY(const auto directory, resolve_run(args.run));
  TM_TRY(auto run, RunCapture::open(directory));
  TM_TRY(const auto index, read_dump(run));
  if (args.nan) return print_nan(run, index);
  TM_TRY(const auto chosen, filter(run, index, args));
  if (!args.export_dir.empty()) {
    TM_TRY(const auto written, write_dump_files(run, index, chosen, args.export_dir, args.format));
    print("{} files in {}\n", written, args.export_dir);
    return 0;
  }
  if (args.index && chosen.size() == 1) {
    TM_TRY(const auto text, dump_text(run, index.entries[chosen.front()]));
    print_text(text);
    return 0;
  }
  print("{}: {} on {}\n", directory, run.description().run.workload,
        run.description().run.platform);
  print_totals(index, chosen.size());
  print_head(args.stats);
  for (std::size_t i = 0; i < chosen.size() && i < args.limit; ++i)
    print_entry(run, chosen[i], index.entries[chosen[i]], args.stats);
  if (chosen.size() > args.limit)
    print("  ... {} more (--limit N shows them)\n", with_commas(chosen.size() - args.limit));
  return 0;
}

void print_diff(const ArgumentDiff& diff) {
  print("  {:<12} {:<16} {:<6} arg {:<3} ", task_text(diff.task_id), diff.kernel,
        stage_word(diff.stage), diff.arg_index);
  if (!diff.unlike.empty())
    print("{}\n", diff.unlike);
  else if (diff.only_in_one)
    print("is in one of the two only, or of another type or shape\n");
  else if (diff.by_hash)
    print("differs (by hash; no payload to say by how much)\n");
  else
    print("{} of {} elements, first [{}], max abs {} rel {} ulp {}\n", with_commas(diff.differing),
          with_commas(diff.elements), diff.first_index, number(diff.max_abs), number(diff.max_rel),
          with_commas(diff.max_ulp));
}

void print_missing(const char* where, const std::vector<std::string>& names, std::size_t limit) {
  for (std::size_t i = 0; i < names.size() && i < limit; ++i)
    print("  {} is {}\n", names[i], where);
  if (names.size() > limit)
    print("  ... {} more are {} (--limit N shows them; --subset accepts them)\n",
          with_commas(names.size() - limit), where);
}

// With another run, or with a directory of arrays.
Expected<DumpDiff> diff_with(RunCapture& one, const std::string& there,
                             const FileDiffOptions& options) {
  std::error_code code;
  if (!std::filesystem::exists(there + "/run.json", code))
    return diff_with_files(one, there, options);
  TM_TRY(auto other, RunCapture::open(there));
  return diff_dumps(one, other, options.tolerances);
}

Expected<int> show_diff(const DiffArgs& args) {
  FileDiffOptions options = args.options;
  if (!args.tolerance.empty()) TM_TRY_DO(add_tolerances(args.tolerance, options.tolerances));
  TM_TRY(auto one, RunCapture::open(args.one));
  TM_TRY(const auto diff, diff_with(one, args.other, options));
  print("{} arguments compared, {} differ\n", with_commas(diff.compared),
        with_commas(diff.differing()));
  print_missing("only in the run", diff.only_in_run, args.limit);
  print_missing("only in the files", diff.only_in_files, args.limit);
  if (diff.differences.empty()) return diff.differing() == 0 ? 0 : 1;
  if (diff.first_divergent.empty())
    print("first divergence: none of the tasks that differ has inputs that agree\n");
  else
    print("first divergence: {}, whose inputs agree and whose outputs differ\n",
          task_text(diff.first_divergent.front()));
  for (std::size_t i = 0; i < diff.differences.size() && i < args.limit; ++i)
    print_diff(diff.differences[i]);
  if (diff.differences.size() > args.limit)
    print("  ... {} more (--limit N shows them)\n",
          with_commas(diff.differences.size() - args.limit));
  return 1;
}

}  // namespace

void add_dump_command(Command& program) {
  Command& command = program.command("dump", "What every task read and wrote");
  auto& args = add_run_arguments<DumpArgs>(command, show);
  command.option("--task", &args.task, "Only this task (r1t42, t42 or 0x…)");
  command.option("--kernel", &args.kernel, "Only tasks of this kernel");
  command.option("--stage", &args.stage, "before, after or at_hang",
                 {.one_of = {"before", "after", "at_hang"}});
  command.option("--role", &args.role, "input, output or inout",
                 {.one_of = {"input", "output", "inout"}});
  command.option("--arg", &args.arg, "Only this argument (tensors first, then scalars)");
  command.option("--index", &args.index, "One entry of the list, with its elements");
  command.flag("--stats", &args.stats, "Also minimum, maximum, mean, NaN, hash");
  command.flag("--nan", &args.nan, "The first task that made a NaN or an infinity");
  command.option("--limit", &args.limit, "How many entries to list", kShowsDefault);
  command.option("--export", &args.export_dir, "Write each chosen entry to this directory");
  command.option("--format", &args.format, "txt, npy or csv",
                 {.shows_default = true, .one_of = {"txt", "npy", "csv"}});
  add_file_mode_option(command);
  Command& diff = command.command("diff", "Where two runs part: first divergence, then the rest");
  auto& diff_args = add_arguments<DiffArgs>(diff, show_diff);
  diff.option("a", &diff_args.one, "Directory of a run", {.required = true});
  diff.option("b", &diff_args.other,
              "Directory of another run, or of arrays named as 'dump --export' names them",
              {.required = true});
  DiffTolerance& tolerance = diff_args.options.tolerances.others;
  diff.option("--rtol", &tolerance.rtol, "Relative tolerance", kShowsDefault);
  diff.option("--atol", &tolerance.atol, "Absolute tolerance", kShowsDefault);
  diff.option(
      "--tolerance", &diff_args.tolerance,
      "Tolerances of tensors by dtype: float32=1e-3,bfloat16=1ulp. A number is absolute and "
      "relative; Nulp: so many values of the dtype from one to the other. A part without a "
      "dtype is for all others");
  diff.option("--limit", &diff_args.limit, "How many differences to list", kShowsDefault);
  diff.flag("--subset", &diff_args.options.subset,
            "Accept arrays that only the run or only the directory has");
}

}  // namespace tidemark::cli
