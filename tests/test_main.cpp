// SPDX-License-Identifier: Apache-2.0
// System tests launch device processes: the supervisor is forked before anything else.
#include <cstdio>

#include <gtest/gtest.h>

#include "tidemark/device/supervisor.h"
#include "workloads/workload_table.h"

int main(int argc, char** argv) {
  tidemark::register_synthetic_producer();
  if (auto started = tidemark::Supervisor::start(); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
