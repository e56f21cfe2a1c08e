// SPDX-License-Identifier: Apache-2.0
// tidemark run: runs a workload, records it, and says how it went.
#include <unistd.h>

#include "tidemark/base/human_text.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/file_mode_option.h"
#include "tidemark/cli/run_options.h"
#include "tidemark/cli/run_summary.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/device/supervisor.h"
#include "tidemark/session/run_session.h"

namespace tidemark::cli {
namespace {

void show_progress(const RunProgress& progress) {
  if (progress.elapsed_ms < 500) return;
  print_raw("\r", Stream::kError);
  print_error("  {:>6.1f} s", static_cast<double>(progress.elapsed_ms) / 1000);
  if (progress.tasks.submitted > 0)
    print_error("  {} of {} tasks complete", with_commas(progress.tasks.completed),
                with_commas(progress.tasks.submitted));
  if (progress.records > 0) print_error("  {} records drained", with_commas(progress.records));
  print_error(" ");
  flush(Stream::kError);
}

Expected<int> run(const RunOptions& options) {
  TM_TRY(auto request, make_request(options));
  if (request.isolation == Isolation::kProcess) TM_TRY_DO(Supervisor::start());
  const ExportOptions exports{.limit = options.export_limit,
                              .only_on_request = exports_on_request(request.workload)};
  request.export_artifacts = [exports](const std::string& directory, RunReport& report) {
    return export_automatically(directory, report, exports);
  };
  const bool live = ::isatty(STDERR_FILENO) == 1 && !options.json;
  if (live) request.on_progress = show_progress;
  request.on_notice = [live](const std::string& text) {
    if (live) print_raw("\r\x1b[K", Stream::kError);
    print_error("tidemark: {}\n", text);
  };
  const auto result = run_session(request);
  if (live) print_raw("\r\x1b[K", Stream::kError);
  if (!result) return tl::unexpected(result.error());
  if (result->keeps_region)
    print_text(summarize_kept(result->report));
  else if (options.json)
    print_text(to_json(result->report) + "\n");
  else
    print_text(summarize(result->report, result->directory));
  if (!result->file_error.empty()) print_error("tidemark: {}\n", result->file_error);
  return result->exit_code;
}

}  // namespace

void add_run_command(Command& program) {
  Command& command = program.command("run", "Run a workload and record it");
  bind_run_options(command, add_arguments<RunOptions>(command, run));
  command.group.clear();
  add_file_mode_option(command);
}

}  // namespace tidemark::cli
