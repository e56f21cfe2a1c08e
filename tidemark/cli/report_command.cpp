// SPDX-License-Identifier: Apache-2.0
// tidemark report: a run as a page, in one file or in a folder.
#include "tidemark/base/human_text.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/file_mode_option.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/serve/single_file.h"
#include "tidemark/serve/tile_site.h"

namespace tidemark::cli {
namespace {

struct ReportArgs {
  std::string run;
  std::string other;
  std::string file;
  std::string tiles;
  std::uint64_t max_bytes = 64ull << 20;
  std::uint32_t threads = 0;
};

Expected<int> write_site(const ReportArgs& args, const std::string& run, const std::string& other) {
  TM_TRY(const auto size, write_tile_site({.run = run, .other = other, .folder = args.tiles},
                                          capture_tiles(args.threads)));
  print("{}: {} files, {}\n", args.tiles, with_commas(size.files), human_bytes(size.bytes));
  print("Any web server can host this folder; its page is index.html. To look at it here alone:\n");
  print("  tidemark serve {}\n", run);
  return 0;
}

Expected<int> write_file(const ReportArgs& args, const std::string& run, const std::string& other) {
  const std::string path = args.file.empty() ? run + "/report.html" : args.file;
  const auto say_size = [&](const SingleFileSize& size) {
    print("{}: {} (the page {}, {} tiles and documents {})\n", path, human_bytes(size.bytes),
          human_bytes(size.page_bytes), with_commas(size.blobs),
          human_bytes(size.bytes - size.page_bytes));
    flush();
  };
  TM_TRY_DO(
      write_single_file({.run = run, .other = other, .path = path, .max_bytes = args.max_bytes},
                        capture_tiles(args.threads), say_size));
  print("Open it in a browser; it needs no network and no server.\n");
  return 0;
}

Expected<int> report(const ReportArgs& args) {
  TM_TRY(const auto run, resolve_run(args.run));
  std::string other;
  if (!args.other.empty()) {
    TM_TRY(other, resolve_run(args.other));
  }
  if (!args.tiles.empty() && !args.file.empty())
    return failure(ErrorKind::kUsage,
                   "-o names one file, --tiles a folder of files: say one of the two");
  return args.tiles.empty() ? write_file(args, run, other) : write_site(args, run, other);
}

}  // namespace

void add_report_command(Command& program) {
  Command& command = program.command(
      "report", "A run as a page to look at: one file for a browser, or a folder for a web server");
  auto& args = add_run_arguments<ReportArgs>(command, report);
  command.option("-o,--output", &args.file,
                 "The file, with everything inside (default: report.html in the run)");
  command.option("--compare", &args.other, "A second run, shown beside the first");
  command.option("--max-bytes", &args.max_bytes,
                 "A file that would be larger is not written (exit 2)", kShowsDefault);
  command.option("--tiles", &args.tiles,
                 "Instead of a file: a folder that any web server can host, for runs of any size");
  command.option(
      "--threads", &args.threads,
      "That make tiles; 0: one for each processor, up to 8. Their number changes nothing "
      "in what is written",
      {.shows_default = true, .range = {{0, 64}}});
  add_file_mode_option(command);
}

}  // namespace tidemark::cli
