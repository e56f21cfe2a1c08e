// SPDX-License-Identifier: Apache-2.0
// What an orchestration is given: tensors and numbers of the workload's own.
#pragma once

#include <cstdint>

#include "tidemark/base/check.h"
#include "tidemark/runtime/graph/tensor_ref.h"

namespace tidemark {

inline constexpr std::uint32_t kEntryTensorsMax = 16;
inline constexpr std::uint32_t kEntryNumbersMax = 32;

struct EntryArgs {
  std::uint32_t tensor_count;
  std::uint32_t number_count;
  TensorView tensors[kEntryTensorsMax];
  std::int64_t numbers[kEntryNumbersMax];

  TM_DEVICE TensorRef tensor(std::uint32_t index) const {
    TM_CHECK(index < tensor_count);
    TensorRef ref = TensorRef::external(tensors[index]);
    ref.output_index = static_cast<std::uint16_t>(index);
    ref.known = true;
    return ref;
  }
  TM_DEVICE std::int64_t number(std::uint32_t index) const {
    TM_CHECK(index < number_count);
    return numbers[index];
  }
};

}  // namespace tidemark
