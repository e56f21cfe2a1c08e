// SPDX-License-Identifier: Apache-2.0
// --file-mode, the same for every command that writes files of a run.
#pragma once

#include "tidemark/base/command.h"

namespace tidemark::cli {

void add_file_mode_option(Command& command);

}  // namespace tidemark::cli
