// SPDX-License-Identifier: Apache-2.0
// What an orchestration gets back for a task.
#pragma once

#include <cstdint>

#include "tidemark/base/check.h"
#include "tidemark/base/quanta.h"
#include "tidemark/runtime/graph/tensor_ref.h"

namespace tidemark {

inline constexpr std::uint32_t kOutputsMax = 8;  // of one task

// What a submit returns: the task, and the tensors it will make, in the order of its arguments.
class Submitted {
 public:
  TaskHandle task;

  // A submit makes one of these each time, mostly for one output or none: only those that are there
  // are written and copied.
  TM_DEVICE Submitted() {}  // NOLINT(modernize-use-equals-default): of a union
  TM_DEVICE Submitted(const Submitted& from) { *this = from; }
  TM_DEVICE Submitted& operator=(const Submitted& from) {
    task = from.task;
    output_count_ = from.output_count_;
    for (std::uint32_t i = 0; i < output_count_; ++i) copy_quanta(outputs_[i], from.outputs_[i]);
    return *this;
  }

  TM_DEVICE bool valid() const { return task.valid(); }
  // Empty, and safe to use, if the submit was refused.
  TM_DEVICE const TensorRef& output(std::uint32_t index) const& {
    static constexpr TensorRef kNothing{};
    return index < output_count_ ? outputs_[index] : kNothing;
  }
  TM_DEVICE TensorRef output(std::uint32_t index) && {
    return static_cast<const Submitted&>(*this).output(index);
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a submit is given where its task is asked for
  TM_DEVICE operator TaskHandle() const { return task; }
  TM_DEVICE void add_output(const TensorRef& ref) {
    TM_CHECK(output_count_ < kOutputsMax);
    copy_quanta(outputs_[output_count_++], ref);
  }

 private:
  std::uint32_t output_count_ = 0;
  union {
    TensorRef outputs_[kOutputsMax];  // the first output_count_
  };
};

}  // namespace tidemark
