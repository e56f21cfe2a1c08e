// SPDX-License-Identifier: Apache-2.0
// Test support: a dumped argument of floats as the frame that a core writes.
#pragma once

#include <cstring>
#include <vector>

#include "tidemark/runtime/tensor/tensor_stats.h"
#include "tidemark/schema/dump_frame.h"

namespace tidemark::samples {

struct DumpedArgument {
  std::uint64_t task = 0;
  DumpStage stage = DumpStage::kBeforeDispatch;
  std::uint8_t arg = 0;
  std::uint64_t time_ticks = 0;
  std::vector<float> values = {};
  Access access = Access::kInput;
  bool has_stats = true;
  bool has_payload = true;
  std::uint64_t start_offset = 0;
  std::uint64_t stride = 1;

  [[nodiscard]] std::vector<unsigned char> payload() const {
    std::vector<unsigned char> bytes(values.size() * sizeof(float));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  [[nodiscard]] DumpStats stats() const {
    TensorStats stats(DType::kFloat32);
    const auto bytes = payload();
    stats.add(bytes.data(), bytes.size());
    return stats.result();
  }
  [[nodiscard]] DumpHeader header() const {
    DumpHeader header;
    header.core = 1;
    header.stage = stage;
    header.kind = DumpKind::kTensor;
    header.task_id = task;
    header.time_ticks = time_ticks;
    header.logical_bytes = values.size() * sizeof(float);
    header.payload_bytes = has_payload ? header.logical_bytes : 0;
    header.start_offset = start_offset;
    header.kernels[0] = header.kernels[2] = kNoKernel;
    header.access = access;
    header.dtype = DType::kFloat32;
    header.rank = 1;
    header.arg_index = arg;
    header.flags = has_stats ? kDumpHasStats : 0;
    header.extent[0] = values.size();
    header.stride[0] = stride;
    return header;
  }
  [[nodiscard]] std::vector<unsigned char> frame() const {
    std::vector<unsigned char> bytes;
    const auto append = [&](const void* from, std::size_t count) {
      const auto* begin = static_cast<const unsigned char*>(from);
      bytes.insert(bytes.end(), begin, begin + count);
    };
    const DumpHeader head = header();
    append(&head, sizeof(head));
    if (has_payload) append(values.data(), values.size() * sizeof(float));
    const DumpStats tail = stats();
    if (has_stats) append(&tail, sizeof(tail));
    return bytes;
  }
};

}  // namespace tidemark::samples
