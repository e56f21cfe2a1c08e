// SPDX-License-Identifier: Apache-2.0
// A program of somebody else's that records from its own threads.
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tidemark/reader.h"
#include "tidemark/recording.h"

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
  const auto total = report.value().total();
  std::uint64_t found = 0;
  auto run = tidemark::RunCapture::open(directory).value();
  for (tidemark::LaneIndex lane = 0; lane < run.lanes().size(); ++lane)
    for (auto cursor = run.records(lane); cursor.next();) ++found;
  const bool sound = found == 300'001 && total.delivered == found && total.dropped == 0;
  std::printf("%s\n", sound ? "sound" : "NOT SOUND");
  return sound ? 0 : 1;
}
