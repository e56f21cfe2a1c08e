// SPDX-License-Identifier: Apache-2.0
// The task graph as it is built: one record per task, one or more per tensor argument, one per
// dependency. Four kinds of record share one stream and one size. A task's arguments follow it
// without a gap in the numbers; an edge names both its ends and may come before its consumer.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/schema/access.h"
#include "tidemark/schema/dtype.h"
#include "tidemark/schema/enum_text.h"
#include "tidemark/schema/field.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/schema/task_limits.h"
#include "tidemark/schema/task_shape.h"
#include "tidemark/schema/ticks48.h"
#include "tidemark/schema/view_overlap.h"

namespace tidemark {

enum class GraphRecordKind : std::uint8_t { kTask = 1, kArgument = 2, kDimensions = 3, kEdge = 4 };

// What an edge was found by.
enum class EdgeSource : std::uint8_t { kExplicit, kCreator, kTensorMap };

constexpr std::string_view to_text(EdgeSource source) {
  return enum_text(source, EdgeSource::kExplicit, {"explicit", "creator", "tensormap"});
}

struct GraphTask {
  static constexpr StreamId kStream = StreamId::kEdges;
  static constexpr std::uint32_t kBytes = 48;

  std::uint64_t task_id = 0;
  std::uint64_t time_ticks = 0;  // it was written down, just before it is released
  std::uint32_t block_count = 1;
  std::uint32_t submit_line = 0;
  std::uint16_t kernels[kKernelsMax] = {};  // of AIC, AIV0, AIV1; kNoKernel: none
  std::uint64_t submit_file = 0;            // hash of a name
  TaskShape shape{};
  std::uint8_t tensor_count = 0;
  std::uint8_t scalar_count = 0;
  std::uint8_t at_once = 0;  // an allocation
  // Writers were given up for room before this task was written down: it may lack edges.
  std::uint8_t writers_evicted = 0;

  TM_DEVICE void pack(std::uint64_t* words) const {
    words[0] = task_id;
    words[1] = time_ticks & kTicks48Mask;
    words[2] = block_count | std::uint64_t{submit_line} << 32;
    words[3] = kernels[0] | std::uint64_t{kernels[1]} << 16 | std::uint64_t{kernels[2]} << 32;
    words[4] = submit_file;
    words[5] = stored_bits(GraphRecordKind::kTask) | stored_bits(shape) << 8 |
               std::uint64_t{tensor_count} << 16 | std::uint64_t{scalar_count} << 24 |
               std::uint64_t{at_once} << 32 | std::uint64_t{writers_evicted} << 40;
  }
  TM_DEVICE static GraphTask unpack(const std::uint64_t* words, std::uint64_t near_ticks) {
    return {.task_id = words[0],
            .time_ticks = full_ticks(words[1], near_ticks),
            .block_count = static_cast<std::uint32_t>(words[2]),
            .submit_line = static_cast<std::uint32_t>(words[2] >> 32),
            .kernels = {static_cast<std::uint16_t>(words[3]),
                        static_cast<std::uint16_t>(words[3] >> 16),
                        static_cast<std::uint16_t>(words[3] >> 32)},
            .submit_file = words[4],
            .shape = static_cast<TaskShape>(words[5] >> 8),
            .tensor_count = static_cast<std::uint8_t>(words[5] >> 16),
            .scalar_count = static_cast<std::uint8_t>(words[5] >> 24),
            .at_once = static_cast<std::uint8_t>(words[5] >> 32),
            .writers_evicted = static_cast<std::uint8_t>(words[5] >> 40)};
  }
};

struct GraphArgument {
  static constexpr StreamId kStream = StreamId::kEdges;
  static constexpr std::uint32_t kBytes = 48;

  std::uint64_t task_id = 0;
  std::uint64_t start_offset = 0;  // elements; 48 bits, as is any place in memory
  std::uint64_t buffer = 0;        // where it lies in the device's memory
  std::uint64_t owner = 0;         // the task that allocated it; ~0: the program's caller
  std::uint8_t index = 0;
  Access access{};
  DType dtype{};
  std::uint8_t rank = 0;
  std::uint8_t output_index = 0;  // among the outputs of its owner

  TM_DEVICE void pack(std::uint64_t* words) const {
    words[0] = task_id;
    words[1] = start_offset & kTicks48Mask;
    words[2] = buffer;
    words[3] = index | stored_bits(access) << 8 | stored_bits(dtype) << 16 |
               std::uint64_t{rank} << 24 | std::uint64_t{output_index} << 32;
    words[4] = owner;
    words[5] = stored_bits(GraphRecordKind::kArgument);
  }
  TM_DEVICE static GraphArgument unpack(const std::uint64_t* words) {
    return {.task_id = words[0],
            .start_offset = words[1] & kTicks48Mask,
            .buffer = words[2],
            .owner = words[4],
            .index = static_cast<std::uint8_t>(words[3]),
            .access = static_cast<Access>(words[3] >> 8),
            .dtype = static_cast<DType>(words[3] >> 16),
            .rank = static_cast<std::uint8_t>(words[3] >> 24),
            .output_index = static_cast<std::uint8_t>(words[3] >> 32)};
  }
};

// Shape and strides of the argument before it: two dimensions whose numbers fit into 32 bits, or
// one of any size.
struct GraphDimensions {
  static constexpr StreamId kStream = StreamId::kEdges;
  static constexpr std::uint32_t kBytes = 48;

  std::uint64_t task_id = 0;
  std::uint64_t extent[2] = {};
  std::uint64_t stride[2] = {};
  std::uint8_t first = 0;  // dimension
  std::uint8_t count = 1;

  TM_DEVICE static constexpr bool fits_two(std::uint64_t extent, std::uint64_t stride) {
    return (extent | stride) >> 32 == 0;
  }
  TM_DEVICE void pack(std::uint64_t* words) const {
    words[0] = task_id;
    words[1] = 0;
    words[2] = count == 2 ? extent[0] | extent[1] << 32 : extent[0];
    words[3] = 0;
    words[4] = count == 2 ? stride[0] | stride[1] << 32 : stride[0];
    words[5] = stored_bits(GraphRecordKind::kDimensions) | std::uint64_t{first} << 8 |
               std::uint64_t{count} << 16;
  }
  TM_DEVICE static GraphDimensions unpack(const std::uint64_t* words) {
    GraphDimensions made{.task_id = words[0],
                         .first = static_cast<std::uint8_t>(words[5] >> 8),
                         .count = static_cast<std::uint8_t>(words[5] >> 16)};
    const bool two = made.count == 2;
    const std::uint64_t mask = two ? 0xFFFFFFFFull : ~std::uint64_t{0};
    made.extent[0] = words[2] & mask;
    made.stride[0] = words[4] & mask;
    made.extent[1] = two ? words[2] >> 32 : 0;
    made.stride[1] = two ? words[4] >> 32 : 0;
    return made;
  }
};

struct GraphEdgeRecord {
  static constexpr StreamId kStream = StreamId::kEdges;
  static constexpr std::uint32_t kBytes = 48;

  std::uint64_t producer = 0;
  std::uint64_t consumer = 0;
  std::uint16_t arg = kNoArg;           // of the consumer
  std::uint16_t producer_arg = kNoArg;  // through which the producer wrote
  EdgeSource source{};
  ViewOverlap overlap{};
  std::uint8_t satisfied = 0;  // the producer was complete when it was found

  TM_DEVICE void pack(std::uint64_t* words) const {
    words[0] = producer;
    words[1] = 0;
    words[2] = consumer;
    words[3] = arg | std::uint64_t{producer_arg} << 16 | stored_bits(source) << 32 |
               stored_bits(overlap) << 40;
    words[4] = satisfied;
    words[5] = stored_bits(GraphRecordKind::kEdge);
  }
  TM_DEVICE static GraphEdgeRecord unpack(const std::uint64_t* words) {
    return {.producer = words[0],
            .consumer = words[2],
            .arg = static_cast<std::uint16_t>(words[3]),
            .producer_arg = static_cast<std::uint16_t>(words[3] >> 16),
            .source = static_cast<EdgeSource>(words[3] >> 32),
            .overlap = static_cast<ViewOverlap>(words[3] >> 40),
            .satisfied = static_cast<std::uint8_t>(words[4])};
  }
};

TM_DEVICE constexpr GraphRecordKind graph_record_kind(const std::uint64_t* words) {
  return static_cast<GraphRecordKind>(words[5] & 0xFF);
}

inline constexpr Field kGraphKind{"kind", FieldType::kU8, 40};
inline constexpr Field kDimensionCount{"count", FieldType::kU8, 42};

inline constexpr Field kGraphTaskFields[] = {
    {"task_id", FieldType::kU64, 0},
    {"time", FieldType::kTicks48, 8},
    {"block_count", FieldType::kU32, 16},
    {"submit_line", FieldType::kU32, 20},
    {"kernel_0", FieldType::kU16, 24},
    {"kernel_1", FieldType::kU16, 26},
    {"kernel_2", FieldType::kU16, 28},
    {"submit_file", FieldType::kHash64, 32},
    kGraphKind,
    {"shape", FieldType::kU8, 41},
    {"tensor_count", FieldType::kU8, 42},
    {"scalar_count", FieldType::kU8, 43},
    {"at_once", FieldType::kU8, 44},
    {"writers_evicted", FieldType::kU8, 45},
};
inline constexpr Field kGraphArgumentFields[] = {
    {"task_id", FieldType::kU64, 0}, {"start_offset", FieldType::kU48, 8},
    {"buffer", FieldType::kU64, 16}, {"index", FieldType::kU8, 24},
    {"access", FieldType::kU8, 25},  {"dtype", FieldType::kU8, 26},
    {"rank", FieldType::kU8, 27},    {"output_index", FieldType::kU8, 28},
    {"owner", FieldType::kU64, 32},  kGraphKind,
};
inline constexpr Field kOneDimensionFields[] = {
    {"task_id", FieldType::kU64, 0},   {"extent_0", FieldType::kU64, 16},
    {"stride_0", FieldType::kU64, 32}, kGraphKind,
    {"first", FieldType::kU8, 41},     kDimensionCount,
};
inline constexpr Field kTwoDimensionsFields[] = {
    {"task_id", FieldType::kU64, 0},   {"extent_0", FieldType::kU32, 16},
    {"extent_1", FieldType::kU32, 20}, {"stride_0", FieldType::kU32, 32},
    {"stride_1", FieldType::kU32, 36}, kGraphKind,
    {"first", FieldType::kU8, 41},     kDimensionCount,
};
inline constexpr Field kGraphEdgeFields[] = {
    {"producer", FieldType::kU64, 0},  {"consumer", FieldType::kU64, 16},
    {"arg", FieldType::kU16, 24},      {"producer_arg", FieldType::kU16, 26},
    {"source", FieldType::kU8, 28},    {"overlap", FieldType::kU8, 29},
    {"satisfied", FieldType::kU8, 32}, kGraphKind,
};
inline constexpr RecordKind kGraphKinds[] = {
    {"task", kGraphTaskFields, {kGraphKind, stored_bits(GraphRecordKind::kTask)}},
    {"argument", kGraphArgumentFields, {kGraphKind, stored_bits(GraphRecordKind::kArgument)}},
    {"one_dimension",
     kOneDimensionFields,
     {kGraphKind, stored_bits(GraphRecordKind::kDimensions)},
     {kDimensionCount, 1}},
    {"two_dimensions",
     kTwoDimensionsFields,
     {kGraphKind, stored_bits(GraphRecordKind::kDimensions)},
     {kDimensionCount, 2}},
    {"edge", kGraphEdgeFields, {kGraphKind, stored_bits(GraphRecordKind::kEdge)}},
};

}  // namespace tidemark
