// SPDX-License-Identifier: Apache-2.0
// A program of one's own with the whole command line around it:
//
//   int main(int argc, char** argv) { return tidemark::tidemark_main<MyWorkload>(argc, argv); }
//
// Then `my_program run my_workload` takes every flag that `tidemark run` takes.
#pragma once

#include "tidemark/session/register_workload.h"

namespace tidemark {

namespace cli {
// Registers the programs, parses, runs. What main returns.
int run_command_line(int argc, char** argv);
}  // namespace cli

template <Workload... Workloads>
int tidemark_main(int argc, char** argv) {
  (register_workload<Workloads>(), ...);
  return cli::run_command_line(argc, argv);
}

}  // namespace tidemark
