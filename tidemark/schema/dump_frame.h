// SPDX-License-Identifier: Apache-2.0
// One argument of one task, as it is dumped: a frame of header, payload, statistics. The payload is
// the logical view gathered to contiguous bytes, or nothing. Statistics come last, so that one pass
// over the elements is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tidemark/schema/access.h"
#include "tidemark/schema/dtype.h"
#include "tidemark/schema/enum_text.h"
#include "tidemark/schema/field.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {

inline constexpr std::uint32_t kDumpMagic = 0x504D5544;  // "DUMP"

enum class DumpStage : std::uint8_t { kBeforeDispatch = 0, kAfterCompletion = 1, kAtHang = 2 };

constexpr std::string_view to_text(DumpStage stage) {
  return enum_text(stage, DumpStage::kBeforeDispatch,
                   {"before_dispatch", "after_completion", "at_hang"});
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
inline constexpr Field kDumpFields[] = {
    {"magic", FieldType::kU32, 0},          {"core", FieldType::kU16, 4},
    {"stage", FieldType::kU8, 6},           {"kind", FieldType::kU8, 7},
    {"task_id", FieldType::kU64, 8},        {"time", FieldType::kU64, 16},
    {"payload_bytes", FieldType::kU64, 24}, {"logical_bytes", FieldType::kU64, 32},
    {"start_offset", FieldType::kU64, 40},  {"scalar", FieldType::kU64, 48},
    {"kernel_0", FieldType::kU16, 56},      {"kernel_1", FieldType::kU16, 58},
    {"kernel_2", FieldType::kU16, 60},      {"access", FieldType::kU8, 62},
    {"dtype", FieldType::kU8, 63},          {"rank", FieldType::kU8, 64},
    {"arg_index", FieldType::kU8, 65},      {"flags", FieldType::kU8, 66},
    {"skip_reason", FieldType::kU8, 67},    {"block_count", FieldType::kU32, 68},
    {"extent_0", FieldType::kU64, 72},      {"extent_1", FieldType::kU64, 80},
    {"extent_2", FieldType::kU64, 88},      {"extent_3", FieldType::kU64, 96},
    {"extent_4", FieldType::kU64, 104},     {"stride_0", FieldType::kU64, 112},
    {"stride_1", FieldType::kU64, 120},     {"stride_2", FieldType::kU64, 128},
    {"stride_3", FieldType::kU64, 136},     {"stride_4", FieldType::kU64, 144},
};
static_assert(offsetof(DumpHeader, access) == 62 && offsetof(DumpHeader, stride) == 112);
inline constexpr RecordKind kDumpKinds[] = {{"argument", kDumpFields}};
// Behind the payload, if the flags say so.
inline constexpr Field kDumpStatsFields[] = {
    {"min", FieldType::kF64, 0},   {"max", FieldType::kF64, 8},   {"mean", FieldType::kF64, 16},
    {"l2", FieldType::kF64, 24},   {"nan", FieldType::kU64, 32},  {"inf", FieldType::kU64, 40},
    {"zero", FieldType::kU64, 48}, {"hash", FieldType::kU64, 56},
};

}  // namespace tidemark
