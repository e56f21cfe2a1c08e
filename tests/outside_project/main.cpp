// SPDX-License-Identifier: Apache-2.0
// A program of somebody else's that records from its own threads.
#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

#include "tidemark/analyze/check_run.h"
#include "tidemark/session/recording.h"

int main() {
  const std::string directory = "outside_project_run";
  auto recording = tidemark::Recording::start({.output_dir = directory, .force = true}).value();
  std::vector<std::thread> workers;
  for (std::uint16_t worker = 0; worker < 3; ++worker)
    workers.emplace_back([&, worker] {
      auto lane = recording->open_lane<tidemark::TaskSpan>("worker").value();
      for (std::uint64_t task = 0; task < 100'000; ++task) {
        const auto begin_ticks = lane.now();
        lane.write({.task_id = task,
                    .begin_ticks = begin_ticks,
                    .end_ticks = lane.now(),
                    .block = 0,
                    .kernel = 0,
                    .core = worker});
      }
    });
  auto events = recording->open_events("main").value();
  events.mark("workers started", 3);
  for (auto& worker : workers) worker.join();
  events.close();
  const auto report = recording->finish();

  // The proof that it worked; not part of recording.
  const auto check = tidemark::check_run(directory, {});
  const bool sound = report && check && check->problems.empty() &&
                     check->counted.delivered == 300'001 && check->counted.dropped == 0;
  std::printf("%s\n", sound ? "sound" : "NOT SOUND");
  return sound ? 0 : 1;
}
