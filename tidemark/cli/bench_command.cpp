// SPDX-License-Identifier: Apache-2.0
// tidemark bench: what the recorder costs and what limits it.
#include "tidemark/cli/command_line.h"

namespace tidemark::cli {

void add_bench_command(CLI::App& app, Outcome&) {
  app.add_subcommand("bench", "Measure the recorder");
}

}  // namespace tidemark::cli
