// SPDX-License-Identifier: Apache-2.0
// synthetic_producer: no compute; a chosen number of lanes writes task spans at a chosen rate
// through the normal path. The tool to separate transport from workload.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/base/expected.h"

namespace tidemark {

struct WorkloadLaunch;

struct SyntheticOptions {
  std::uint32_t lanes = 4;
  std::uint32_t record_bytes = 32;  // 32, 64 or 128
  double rate = 0;                  // records per second and lane; 0: as fast as possible
  double seconds = 0;               // 0: until `records` are written
  std::uint64_t records = 0;        // per lane
  bool burst = false;               // full speed for some pages, then silence, all lanes together
  std::uint32_t writing_lanes = 0;  // 0: all; otherwise only the first ones write
  std::uint64_t frame_bytes = 0;    // > 0: every lane also writes frames of up to this size
  bool one_thread = false;          // CUDA: one thread writes a lane, not a warp
  std::uint64_t hang_after = 0;     // > 0: each lane writes so many records, then never returns
  bool ignore_abort = false;  // lanes go on when the run is aborted, as a kernel in a loop does
  // A file in which each lane counts what was accepted, for tests that kill the run: two 64-bit
  // words per lane, records then frames.
  std::string accepted_counts;
};

inline constexpr const char* kSyntheticProducer = "synthetic_producer";

void register_synthetic_producer();
Expected<WorkloadLaunch> plan_synthetic_producer(const SyntheticOptions& options);

}  // namespace tidemark
