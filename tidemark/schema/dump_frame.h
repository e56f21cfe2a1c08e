// SPDX-License-Identifier: Apache-2.0
// One argument of one task, as it is dumped: a frame of header, payload, statistics. The payload is
// the logical view gathered to contiguous bytes, or nothing. Statistics come last, so that one pass
// over the elements is enough.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tidemark {

inline constexpr std::uint32_t kDumpMagic = 0x504D5544;  // "DUMP"
inline constexpr std::uint32_t kDumpRankMax = 5;

enum class DumpStage : std::uint8_t { kBeforeDispatch = 0, kAfterCompletion = 1, kAtHang = 2 };
enum class DumpKind : std::uint8_t {
  kTensor = 1,
  kScalar = 2,
  kSkipped = 3,  // a task whose arguments are raw words that nobody described
};

// Bits of DumpHeader::flags.
inline constexpr std::uint8_t kDumpTruncated = 1;      // payload_bytes < logical_bytes on request
inline constexpr std::uint8_t kDumpCapturedAfter = 2;  // an input, captured after the kernel
inline constexpr std::uint8_t kDumpTorn = 4;           // the bytes may have been changing
inline constexpr std::uint8_t kDumpHasStats = 8;

struct DumpHeader {
  std::uint32_t magic = kDumpMagic;
  std::uint16_t core = 0;
  std::uint8_t stage = 0;  // DumpStage
  std::uint8_t kind = 0;   // DumpKind
  std::uint64_t task_id = 0;
  std::uint64_t time_ticks = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t logical_bytes = 0;
  std::uint64_t start_offset = 0;  // elements
  std::uint64_t scalar = 0;
  std::uint16_t kernels[3] = {};
  std::uint8_t access = 0;  // Access
  std::uint8_t dtype = 0;   // DType
  std::uint8_t rank = 0;
  std::uint8_t arg_index = 0;  // tensors first, then scalars
  std::uint8_t flags = 0;
  std::uint8_t reserved = 0;
  std::uint32_t block_count = 1;
  std::uint64_t extent[kDumpRankMax] = {};
  std::uint64_t stride[kDumpRankMax] = {};
};
static_assert(sizeof(DumpHeader) == 152 && std::is_trivially_copyable_v<DumpHeader>);

// NaN is left out of min, max, mean and l2; an empty tensor has min = max = 0.
struct DumpStats {
  double min = 0;
  double max = 0;
  double mean = 0;
  double l2 = 0;
  std::uint64_t nan = 0;
  std::uint64_t inf = 0;
  std::uint64_t zero = 0;
  std::uint64_t hash = 0;  // of the logical bytes, the same on every platform
};
static_assert(sizeof(DumpStats) == 64 && std::is_trivially_copyable_v<DumpStats>);

}  // namespace tidemark
