// SPDX-License-Identifier: Apache-2.0
// tidemark hang: why a run was stopped, in about ten lines; or who of a recording that goes on
// has stopped.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tidemark/analyze/hang_fields.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/file_mode_option.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/export/hang_json.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/session/live_view.h"

namespace tidemark::cli {
namespace {

struct HangArgs {
  std::string run;
  bool json = false;
};

Expected<std::string> read_file(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) return failure(ErrorKind::kFile, "{}: cannot be read", path);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// A recording that goes on: its producers as they are now. False: it is something else.
bool show_live(const HangArgs& args, const std::string& directory) {
  const auto report = read_run_report(directory);
  if (!report || report->status != RunStatus::kRunning) return false;
  auto live = LiveRun::attach(directory);
  if (!live) return false;
  const auto view = live->look();
  if (!view || !view->state.is_recording()) return false;
  HangState state = view->state;
  state.name = view->host_alive ? "RUNNING" : "HOST GONE";
  const HangReport look = make_hang_report(state, nullptr);
  print_text(args.json
                 ? json_text<JsonWriter>([&](auto& json) { put_hang_report(json, look); }) + "\n"
                 : hang_summary(look, directory));
  return true;
}

Expected<int> show(const HangArgs& args) {
  TM_TRY(const auto directory, resolve_run(args.run));
  if (show_live(args, directory)) return 0;
  // The capture knows more than the files and may have been recovered since.
  std::error_code code;
  if (std::filesystem::exists(directory + "/" + kCaptureFile, code)) {
    TM_TRY(auto run, RunCapture::open(directory));
    if (const auto state = run.hang()) {
      const HangReport report = make_hang_report(*state, &run);
      // A run that may not be written to shows what is there.
      if (auto put = write_hang_files(report, directory);
          !put && !std::filesystem::exists(directory + "/hang.txt", code))
        return tl::unexpected(put.error());
    }
  }
  const std::string file = directory + (args.json ? "/hang.json" : "/hang.txt");
  if (!std::filesystem::exists(file, code)) {
    TM_TRY(const auto report, read_run_report(directory));
    const char* next =
        report.status == RunStatus::kRunning ? " (see 'tidemark top', or 'tidemark recover')" : "";
    return failure(ErrorKind::kUsage, "{}: nothing hung; its status is '{}'{}", directory,
                   to_text(report.status), next);
  }
  TM_TRY(const auto text, read_file(file));
  print_text(text);
  return 0;
}

}  // namespace

void add_hang_command(Command& program) {
  Command& command =
      program.command("hang", "Why a run was stopped, or who in a recording stands still");
  auto& args = add_arguments<HangArgs>(command, show);
  command.option("run", &args.run, "Directory of the run (default: the newest)");
  command.flag("--json", &args.json, "Print hang.json instead");
  add_file_mode_option(command);
}

}  // namespace tidemark::cli
