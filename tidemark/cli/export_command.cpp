// SPDX-License-Identifier: Apache-2.0
// tidemark export: artifacts from the capture, at any time.
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/file_mode_option.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/export/export_run.h"

namespace tidemark::cli {
namespace {

struct ExportArgs {
  std::string run;
  std::vector<std::string> files;
};

Expected<int> export_run(const ExportArgs& args) {
  TM_TRY(const auto directory, resolve_run(args.run));
  TM_TRY(const auto written, export_files(directory, args.files));
  for (const auto& path : written) print("{}\n", path);
  return 0;
}

}  // namespace

void add_export_command(Command& program) {
  Command& command = program.command("export", "Make artifacts from a run's capture");
  auto& args = add_run_arguments<ExportArgs>(command, export_run);
  command.option("files", &args.files, "Artifacts to make (default: all of the run's streams)");
  add_file_mode_option(command);
}

}  // namespace tidemark::cli
