// SPDX-License-Identifier: Apache-2.0
// The main of the device tests: programs first, then the supervisor, then everything that may start
// threads.
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include <gtest/gtest.h>

#include "tidemark/device/program.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/device/supervisor.h"
#include "tidemark/device/testing/test_programs.h"
#include "tidemark/record/recorder.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {
namespace {

void write_spans(DeviceContext& context) {
  const auto args = context.args<WriteSpansArgs>();
  context.run_units(args.units, [&](std::uint32_t unit) {
    Recorder<TaskSpan, SimEnv> recorder(&context.region(), unit);
    for (std::uint32_t i = 0; i < args.count; ++i)
      recorder.write(TaskSpan{.task_id = std::uint64_t{unit} << 32 | i, .block = i});
    recorder.close();
  });
}

void abort_itself(DeviceContext&) {
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  sim_unit = kAbortUnit;
  ::abort();
}

void leave_early(DeviceContext&) { ::_exit(kLeaveEarlyCode); }

void until_stop(DeviceContext& context) {
  while (!context.stop_requested()) SimEnv::pause(SimEnv::kSleepRound + 5);
}

void never_return(DeviceContext&) {
  for (;;) SimEnv::pause(SimEnv::kSleepRound + 5);
}

int run(int argc, char** argv) {
  register_device_program(kWriteSpans, write_spans);
  register_device_program(kAbortItself, abort_itself);
  register_device_program(kLeaveEarly, leave_early);
  register_device_program(kUntilStop, until_stop);
  register_device_program(kNeverReturn, never_return);
  if (auto started = Supervisor::start(); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) { return tidemark::run(argc, argv); }
