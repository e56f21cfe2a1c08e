// SPDX-License-Identifier: Apache-2.0
// What synthetic_producer is asked to do, on any device, and the numbers its device sides share.
#pragma once

#include <cstdint>

namespace tidemark {

inline constexpr std::uint32_t kCountsPathBytes = 256;
inline constexpr std::uint64_t kBurstRecords = 16384;  // eight default pages of 32-byte records
inline constexpr std::uint64_t kBurstSilenceNs = 1'000'000;
inline constexpr std::uint32_t kFrameEvery = 256;  // records between two frames of a lane

struct SyntheticArgs {
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
  bool ignores_abort = false;  // lanes go on when the run is aborted, as a kernel in a loop does
  // A file in which each lane counts what was accepted, for tests that kill the run: two 64-bit
  // words per lane, records then frames.
  char accepted_counts[kCountsPathBytes] = {};
};

// The CUDA side; in builds without CUDA there is none.
void register_synthetic_producer_cuda();

}  // namespace tidemark
