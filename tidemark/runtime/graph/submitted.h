// SPDX-License-Identifier: Apache-2.0
// What an orchestration gets back for a task.
#pragma once

#include <cstdint>

#include "tidemark/base/check.h"
#include "tidemark/runtime/graph/tensor_ref.h"

namespace tidemark {

inline constexpr std::uint32_t kOutputsMax = 8;  // of one task

// What a submit returns: the task, and the tensors it will make, in the order of its arguments.
class Submitted {
 public:
  TaskHandle task;

  TM_DEVICE bool valid() const { return task.valid(); }
  // Empty, and safe to use, if the submit was refused.
  TM_DEVICE TensorRef output(std::uint32_t index) const {
    return index < output_count_ ? outputs_[index] : TensorRef{};
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a submit is given where its task is asked for
  TM_DEVICE operator TaskHandle() const { return task; }
  TM_DEVICE void add_output(const TensorRef& ref) {
    TM_CHECK(output_count_ < kOutputsMax);
    outputs_[output_count_++] = ref;
  }

 private:
  std::uint32_t output_count_ = 0;
  TensorRef outputs_[kOutputsMax];
};

}  // namespace tidemark
