// SPDX-License-Identifier: Apache-2.0
// The pipeline on threads of this machine: the same stages, each in a thread of its own.
//
//   pipeline_threads DIRECTORY --hang 2,compute,17      tidemark hang DIRECTORY
#include <deque>
#include <thread>
#include <vector>

#include "options.h"

struct Threads {
  static void pause() { std::this_thread::yield(); }
};

int main(int argc, char** argv) {
  pipeline::Options options;
  if (!pipeline::read_options(argc, argv, options)) return 2;
  auto started = tidemark::Recording::start(pipeline::recording_options(options));  // [tm]
  if (!started) {
    std::fprintf(stderr, "pipeline_threads: %s\n", started.error().message.c_str());
    return 3;
  }
  auto& recording = *started;
  const std::vector<float> input = pipeline::make_input(options);
  std::vector<float> output(input.size());
  tidemark::SharedWord<std::uint32_t> leave;
  leave.store_relaxed(0);
  const pipeline::Work work{.from = input.data(),
                            .to = output.data(),
                            .rounds = options.rounds,
                            .hang_cta = options.hang_cta,
                            .hang_stage = options.hang_stage,
                            .hang_round = options.hang_round,
                            .leave = &leave};
  std::deque<pipeline::Tiles> tiles(options.ctas);
  std::vector<std::thread> threads;
  for (std::uint32_t cta = 0; cta < options.ctas; ++cta) {
    tiles[cta].loaded.store_relaxed(0);
    tiles[cta].computed.store_relaxed(0);
    tiles[cta].stored.store_relaxed(0);
    for (std::uint32_t stage = 0; stage < pipeline::kStages; ++stage)
      threads.emplace_back([&, cta, stage] {
        tidemark::Recorder<tidemark::TaskSpan, tidemark::SimEnv> recorder(  // [tm]
            &recording->region(), cta * pipeline::kStages + stage);         // [tm]
        pipeline::run_stage<Threads>(recorder, tidemark::SoloBlock{}, work, tiles[cta], cta, stage);
      });
  }
  if (options.hang_cta < 0)
    for (auto& thread : threads) thread.join();
  const auto report = recording->finish({.still_ms = options.limit_ms});  // [tm]
  leave.store_relaxed(1);
  for (auto& thread : threads)
    if (thread.joinable()) thread.join();
  if (!report) {
    std::fprintf(stderr, "pipeline_threads: %s\n", report.error().message.c_str());
    return 5;
  }
  return pipeline::judge(options, *report, input, output);
}
