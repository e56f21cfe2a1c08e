// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/command_line.h"

int main(int argc, char** argv) { return tidemark::cli::run_command_line(argc, argv); }
