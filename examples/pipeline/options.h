// SPDX-License-Identifier: Apache-2.0
// The command line of the example, and the checks that threads and kernels share.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "pipeline.h"
#include "tidemark/recording.h"

namespace pipeline {

struct Options {
  std::string directory = "pipeline_run";
  std::uint32_t ctas = 4;
  std::uint64_t rounds = 200;
  std::int64_t hang_cta = -1;
  std::uint32_t hang_stage = 0;
  std::uint64_t hang_round = 0;
  std::uint32_t limit_ms = 3000;  // 0: wait for ever
  bool lines = false;             // on a GPU: name source lines, from a core dump
};

inline void print_usage(const char* program) {
  std::printf(
      "usage: %s [DIRECTORY] [--ctas N] [--rounds N] [--hang CTA,STAGE,ROUND] [--limit MS]\n"
      "  --hang   this stage (load, compute or store) does not come back from this round\n"
      "  --limit  how long finish() waits while nothing is heard of any stage; 0: for ever\n"
      "  --lines  on a GPU: name source lines, from a core dump\n",
      program);
}

inline bool read_hang(const char* text, Options& options) {
  char stage[16] = {};
  unsigned long long cta = 0, round = 0;
  if (std::sscanf(text, "%llu,%15[a-z],%llu", &cta, stage, &round) != 3) return false;
  for (std::uint32_t i = 0; i < kStages; ++i)
    if (std::strcmp(stage, kStageNames[i]) == 0) {
      options.hang_cta = static_cast<std::int64_t>(cta);
      options.hang_stage = i;
      options.hang_round = round;
      return true;
    }
  return false;
}

// False: usage was printed.
inline bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag.rfind("--", 0) != 0) {
      options.directory = flag;
      continue;
    }
    if (flag == "--lines") {
      options.lines = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : "";
    if (flag == "--ctas")
      options.ctas = static_cast<std::uint32_t>(std::atoi(value));
    else if (flag == "--rounds")
      options.rounds = std::strtoull(value, nullptr, 10);
    else if (flag == "--limit")
      options.limit_ms = static_cast<std::uint32_t>(std::atoi(value));
    else if (flag != "--hang" || !read_hang(value, options))
      return print_usage(argv[0]), false;
  }
  const bool can_hang = options.hang_cta < static_cast<std::int64_t>(options.ctas) &&
                        (options.hang_cta < 0 || options.hang_round < options.rounds);
  if (options.ctas == 0 || options.rounds == 0 || !can_hang) return print_usage(argv[0]), false;
  return true;
}

// One lane per stage of every CTA; lane number cta * kStages + stage.
inline tidemark::RecordingOptions recording_options(const Options& options) {
  tidemark::RecordingOptions recording{
      .output_dir = options.directory, .name = "pipeline", .force = true, .max_lanes = 0};
  for (std::uint32_t cta = 0; cta < options.ctas; ++cta)
    for (const char* stage : kStageNames)
      recording.lanes.push_back({.producer = "CTA " + std::to_string(cta) + " " + stage});
  recording.recorder.page_bytes = 4096;
  return recording;
}

inline std::vector<float> make_input(const Options& options) {
  std::vector<float> input(options.ctas * options.rounds * kTile);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 1021);
  return input;
}

// The program's own check: of the results, of the records, and of what is said of a hang.
inline int judge(const Options& options, const tidemark::RunReport& report,
                 const std::vector<float>& input, const std::vector<float>& output) {
  if (options.hang_cta >= 0) {
    const std::string said = report.error ? report.error->message : "nothing";
    const std::string expected = "CTA " + std::to_string(options.hang_cta) + " " +
                                 kStageNames[options.hang_stage] + " has been at `" +
                                 kStageNames[options.hang_stage] + "` " +
                                 std::to_string(options.hang_round) + " for ";
    const bool right = said.find(expected) != std::string::npos && report.exit_code == 3;
    std::printf("%s: %s\n", right ? "hung as asked" : "WRONG", said.c_str());
    return right ? 3 : 4;
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < input.size(); ++i) wrong += output[i] != result_of(input[i]);
  const std::uint64_t spans = options.ctas * options.rounds * kStages;
  const auto delivered = report.total().delivered;
  std::printf("%zu of %zu results wrong, %llu of %llu spans recorded, exit code %d\n", wrong,
              input.size(), static_cast<unsigned long long>(delivered),
              static_cast<unsigned long long>(spans), report.exit_code);
  return wrong == 0 && delivered == spans ? report.exit_code : 4;
}

}  // namespace pipeline
