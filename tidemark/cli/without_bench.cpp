// SPDX-License-Identifier: Apache-2.0
// The command line of a sanitizer build: what it would measure there is the sanitizer.
#include "tidemark/cli/command_line.h"

namespace tidemark::cli {

void add_bench_command(Command&) {}

}  // namespace tidemark::cli
