// SPDX-License-Identifier: Apache-2.0
// --file-mode, the same for every command that writes files of a run.
#pragma once

#include <CLI/CLI.hpp>

namespace tidemark::cli {

void add_file_mode_option(CLI::App& command);

}  // namespace tidemark::cli
