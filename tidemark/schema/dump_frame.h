// SPDX-License-Identifier: Apache-2.0
// One argument of one task, as it is dumped: a frame of header, payload, statistics. The payload is
// the logical view gathered to contiguous bytes, or nothing. Statistics come last, so that one pass
// over the elements is enough.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tidemark/schema/access.h"
#include "tidemark/schema/dtype.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {

inline constexpr std::uint32_t kDumpMagic = 0x504D5544;  // "DUMP"

enum class DumpStage : std::uint8_t { kBeforeDispatch = 0, kAfterCompletion = 1, kAtHang = 2 };

constexpr std::string_view to_text(DumpStage stage) {
  switch (stage) {
    case DumpStage::kBeforeDispatch:
      return "before_dispatch";
    case DumpStage::kAfterCompletion:
      return "after_completion";
    case DumpStage::kAtHang:
      return "at_hang";
  }
  return "unknown";
}

enum class DumpKind : std::uint8_t {
  kTensor = 1,
  kScalar = 2,
  kSkipped = 3,  // says why, instead of an argument
};
enum class SkipReason : std::uint8_t {
  kRawWords = 0,     // the task's arguments are raw words that nobody described
  kInvalidView = 1,  // the view is not in the device's memory, or the task's counts cannot be
};

// Bits of DumpHeader::flags.
inline constexpr std::uint8_t kDumpTruncated = 1;      // payload_bytes < logical_bytes on request
inline constexpr std::uint8_t kDumpCapturedAfter = 2;  // an input, captured after the kernel
inline constexpr std::uint8_t kDumpTorn = 4;           // the bytes may have been changing
inline constexpr std::uint8_t kDumpHasStats = 8;

struct DumpHeader {
  std::uint32_t magic = kDumpMagic;
  std::uint16_t core = 0;
  DumpStage stage{};
  DumpKind kind{};
  std::uint64_t task_id = 0;
  std::uint64_t time_ticks = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t logical_bytes = 0;
  std::uint64_t start_offset = 0;  // elements
  std::uint64_t scalar = 0;
  std::uint16_t kernels[kKernelsMax] = {};
  Access access{};
  DType dtype{};
  std::uint8_t rank = 0;
  std::uint8_t arg_index = 0;  // tensors first, then scalars
  std::uint8_t flags = 0;
  SkipReason skip_reason{};  // of a kSkipped
  std::uint32_t block_count = 1;
  std::uint64_t extent[kRankMax] = {};
  std::uint64_t stride[kRankMax] = {};
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
