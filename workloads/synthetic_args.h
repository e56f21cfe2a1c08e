// SPDX-License-Identifier: Apache-2.0
// The arguments of synthetic_producer on any device, and the numbers its device sides share.
#pragma once

#include <cstdint>

namespace tidemark {

inline constexpr std::uint32_t kCountsPathBytes = 256;
inline constexpr std::uint64_t kBurstRecords = 16384;  // eight default pages of 32-byte records
inline constexpr std::uint64_t kBurstSilenceNs = 1'000'000;
inline constexpr std::uint32_t kFrameEvery = 256;  // records between two frames of a lane

struct SyntheticArgs {
  std::uint32_t lanes;
  std::uint32_t record_bytes;
  std::uint32_t writing_lanes;
  std::uint32_t burst;
  std::uint32_t one_thread;     // CUDA: a lane is written by one thread, not by a warp
  std::uint32_t ignores_abort;  // the lanes go on until their time is over
  double rate;
  double seconds;
  std::uint64_t records;
  std::uint64_t frame_bytes;
  std::uint64_t hang_after;  // records, then the lane never returns; 0: it does
  char accepted_counts[kCountsPathBytes];
};

// The CUDA side; in builds without CUDA there is none.
void register_synthetic_producer_cuda();

}  // namespace tidemark
