// SPDX-License-Identifier: Apache-2.0
// tidemark serve: runs as pages for the browsers of this machine, also while they are going on.
#include <filesystem>

#include "tidemark/cli/command_line.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/serve/serve_runs.h"
#include "tidemark/session/signal_watch.h"

namespace tidemark::cli {
namespace {

struct ServeArgs {
  std::string path;
  std::string other;
  std::string cache;
  std::uint32_t port = 0;
};

// A run, or a folder that has some or will have.
Expected<std::string> what_to_serve(const std::string& named) {
  std::error_code code;
  if (!named.empty() && std::filesystem::is_directory(named, code)) return named;
  return resolve_run(named);
}

Expected<int> serve(const ServeArgs& args) {
  TM_TRY(const auto path, what_to_serve(args.path));
  std::string other;
  if (!args.other.empty()) {
    TM_TRY(other, resolve_run(args.other));
  }
  const SignalWatch signals;
  const ServeOptions options{.path = path,
                             .other = other,
                             .port = static_cast<std::uint16_t>(args.port),
                             .cache = args.cache,
                             .making = capture_tiles()};
  TM_TRY_DO(serve_runs(options, signals.fd(), [&](const std::string& address) {
    print("{}\n  {}\n", path, address);
    print("Open it in a browser of this machine. Nobody else can: keep the address to yourself.\n");
    print("Ctrl-C ends it.\n");
    flush();
  }));
  return 128 + signals.signal();
}

}  // namespace

void add_serve_command(Command& program) {
  Command& command = program.command(
      "serve", "The same page from a small server: runs of any size, and while they are going on");
  auto& args = add_arguments<ServeArgs>(command, serve);
  command.option("run", &args.path,
                 "Directory of a run, or a folder with runs, which are listed (default: the newest "
                 "run in outputs/)");
  command.option("--port", &args.port, "On 127.0.0.1; 0 takes one that is free",
                 {.shows_default = true, .range = {{0, 65'535}}});
  command.option("--compare", &args.other, "A second run, shown beside the first");
  command.option("--cache", &args.cache,
                 "Folder for tiles while it runs (default: $TMPDIR or /tmp); runs are only read");
}

}  // namespace tidemark::cli
