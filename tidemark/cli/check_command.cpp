// SPDX-License-Identifier: Apache-2.0
// tidemark check: verifies ledger, checksums, stamps and, where the workload allows it, content.
#include "tidemark/analyze/check_run.h"
#include "tidemark/base/human_text.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark::cli {
namespace {

struct CheckArgs {
  std::string run;
};

Expected<int> check(const CheckArgs& args) {
  TM_TRY(const auto directory, resolve_run(args.run));
  TM_TRY(const auto report, read_run_report(directory));
  const WorkloadEntry* workload = find_registered_workload(report.workload);
  const ContentCheck content = workload == nullptr ? ContentCheck() : workload->verify_page;
  TM_TRY(const auto result, check_run(directory, content));
  const LaneCounts& counted = result.counted;
  print("{}: {} chunks, {} pages, {}\n", directory, with_commas(result.chunks),
        with_commas(result.pages), human_bytes(result.file_bytes));
  print(
      "  numbers    {} produced = {} delivered + {} recovered + {} dropped + {} "
      "overwritten\n",
      with_commas(counted.produced), with_commas(counted.delivered), with_commas(counted.recovered),
      with_commas(counted.dropped), with_commas(counted.overwritten));
  if (content) print("  content    {} records verified\n", with_commas(result.verified_records));
  if (result.verified_tensors > 0)
    print("  dump       {} tensors have the hash that the device computed\n",
          with_commas(result.verified_tensors));
  for (const auto& note : result.notes) print("  note       {}\n", note);
  for (const auto& problem : result.problems) print("  problem    {}\n", problem);
  if (!result.problems.empty()) {
    print("damaged or incomplete: {} problem{}\n", result.problems.size(),
          result.problems.size() == 1 ? "" : "s");
    return 4;
  }
  print("{}\n", result.still_running ? "sound so far" : "sound");
  return 0;
}

}  // namespace

void add_check_command(Command& program) {
  Command& command = program.command("check", "Verify a run: ledger, checksums, stamps, content");
  add_run_arguments<CheckArgs>(command, check);
}

}  // namespace tidemark::cli
