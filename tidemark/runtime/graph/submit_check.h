// SPDX-License-Identifier: Apache-2.0
// A submit's arguments against what the kernel declares, and against arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tidemark/base/align.h"
#include "tidemark/runtime/graph/heap_ring.h"
#include "tidemark/runtime/graph/submit_args.h"
#include "tidemark/runtime/tensor/view_slip.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {

TM_DEVICE inline bool same_text(const char* one, const char* other) {
  while (*one != 0 && *one == *other) ++one, ++other;
  return *one == *other;
}

struct ArgProblem {
  std::uint32_t arg = kNoArg;
  const char* text = nullptr;  // null: there is none
};

namespace submit_check_detail {

TM_DEVICE inline ArgProblem check_counts(GivenArgs args, std::uint32_t tensors,
                                         std::uint32_t scalars) {
  if (args.tensor_count() != tensors)
    return {kNoArg, args.tensor_count() < tensors ? "too few tensors" : "too many tensors"};
  if (args.scalar_count() != scalars)
    return {kNoArg, args.scalar_count() < scalars ? "too few scalars" : "too many scalars"};
  return {};
}
template <class Kernel, std::size_t kIndex>
TM_DEVICE bool check_tensor(GivenArgs args, ArgProblem& problem) {
  constexpr ArgRole kRole = Kernel::kInfo.args.items[kIndex].role;
  constexpr bool kAnyDType = Kernel::kInfo.args.items[kIndex].any_dtype;
  constexpr DType kDType = Kernel::kInfo.args.items[kIndex].dtype;
  const GivenArgs::Tensor& given = args.tensor(kIndex);
  if (!role_takes(kRole, given.access))
    problem = {kIndex, "the kernel declares this argument with another access"};
  else if (!kAnyDType && given.ref.exists && kDType != given.ref.view.dtype)
    problem = {kIndex, "the kernel declares this argument with another dtype"};
  return problem.text == nullptr;
}
template <class Kernel, std::size_t kIndex>
TM_DEVICE bool check_scalar(GivenArgs args, ArgProblem& problem) {
  constexpr std::uint32_t kArg = Kernel::kInfo.args.tensor_count + kIndex;
  constexpr bool kAnyDType = Kernel::kInfo.args.items[kArg].any_dtype;
  constexpr DType kDType = Kernel::kInfo.args.items[kArg].dtype;
  if (!kAnyDType && kDType != args.scalar_at(kIndex).dtype)
    problem = {kArg, "the kernel declares this scalar with another dtype"};
  return problem.text == nullptr;
}

}  // namespace submit_check_detail

// Every argument by itself: what is declared is in the code that checks, not read.
template <class Kernel>
TM_DEVICE ArgProblem check_declared(GivenArgs args) {
  constexpr std::uint32_t kTensors = Kernel::kInfo.args.tensor_count;
  constexpr std::uint32_t kCount = Kernel::kInfo.args.count;
  ArgProblem problem = submit_check_detail::check_counts(args, kTensors, kCount - kTensors);
  if (problem.text != nullptr) return problem;
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    static_cast<void>((submit_check_detail::check_tensor<Kernel, kIndex>(args, problem) && ...));
  }
  (std::make_index_sequence<kTensors>());
  if (problem.text != nullptr) return problem;
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    static_cast<void>((submit_check_detail::check_scalar<Kernel, kIndex>(args, problem) && ...));
  }
  (std::make_index_sequence<kCount - kTensors>());
  return problem;
}

// Names given to dump() become marks. In a mix each kernel has the same argument list.
TM_DEVICE TM_NOINLINE inline ArgProblem resolve_dump_names(const KernelInfo& info, GivenArgs args) {
  ArgProblem problem;
  for (std::uint32_t n = 0; n < args.dump_name_count() && problem.text == nullptr; ++n) {
    bool found = false;
    for (std::uint32_t i = 0; i < info.args.count; ++i) {
      if (!same_text(info.args.items[i].name, args.dump_name(n))) continue;
      args.mark_for_dump(i);
      found = true;
    }
    if (!found) problem = {kNoArg, "dump(): the kernel declares no argument of this name"};
  }
  if (problem.text == nullptr && args.marks_unknown(info.args.count))
    problem = {kNoArg, "dump(): the task has no such argument"};
  return problem;
}

// The end of an output that begins at `bytes`: outputs are aligned; an empty one takes one unit.
// Saturates instead of overflowing: what is too large stays too large.
TM_DEVICE constexpr std::uint64_t add_output_bytes(std::uint64_t bytes, std::uint64_t wanted) {
  constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 63;
  const std::uint64_t rounded = round_up(wanted == 0 ? 1 : wanted, kHeapAlign);
  return bytes > kTooLarge - rounded ? kTooLarge : bytes + rounded;
}

}  // namespace tidemark
