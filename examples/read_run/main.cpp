// SPDX-License-Identifier: Apache-2.0
// Opens a run and walks its records and frames, lane by lane; then reads the spans as structs.
//
//   read_run DIRECTORY
#include <cstdio>
#include <string>

#include "tidemark/reader.h"

int main(int argc, char** argv) {
  auto run = tidemark::RunCapture::open(argc > 1 ? argv[1] : ".");
  if (!run) {
    std::fprintf(stderr, "read_run: %s\n", run.error().message.c_str());
    return 2;
  }
  unsigned long long records = 0, frames = 0, frame_bytes = 0;
  for (tidemark::LaneIndex lane = 0; lane < run->lanes().size(); ++lane) {
    if (run->lanes()[lane].record_bytes == 0) {
      tidemark::for_each_frame(*run, lane, [&](std::uint64_t, auto bytes) {
        ++frames;
        frame_bytes += bytes.size();
      });
      continue;
    }
    for (auto cursor = run->records(lane); cursor.next();) ++records;
  }
  std::printf("%llu records, %llu frames of %llu bytes\n", records, frames, frame_bytes);

  unsigned long long spans = 0, ticks = 0;
  for (const auto lane : run->lanes_of(tidemark::StreamId::kSwimlane))
    for (auto cursor = run->records(lane); cursor.next();) {
      const auto span = cursor.as<tidemark::TaskSpan>();
      ticks += span.end_ticks - span.begin_ticks;
      ++spans;
    }
  std::printf("%llu spans, %llu ticks of work\n", spans, ticks);
  return 0;
}
