// SPDX-License-Identifier: Apache-2.0
// A submit's arguments against what the kernel declares, and against arithmetic.
#pragma once

#include <cstdint>

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

TM_DEVICE inline ArgProblem check_against(const KernelInfo& info, Args& args) {
  if (args.tensor_count() != info.args.tensor_count)
    return {kNoArg,
            args.tensor_count() < info.args.tensor_count ? "too few tensors" : "too many tensors"};
  if (args.tensor_count() + args.scalar_count() != info.args.count)
    return {kNoArg, args.tensor_count() + args.scalar_count() < info.args.count
                        ? "too few scalars"
                        : "too many scalars"};
  for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
    const ArgInfo& declared = info.args.items[i];
    const Args::Tensor& given = args.tensor(i);
    if (!role_takes(declared.role, given.access))
      return {i, "the kernel declares this argument with another access"};
    if (given.ref.exists && !declared.any_dtype && declared.dtype != given.ref.view.dtype)
      return {i, "the kernel declares this argument with another dtype"};
  }
  for (std::uint32_t i = 0; i < args.scalar_count(); ++i) {
    const ArgInfo& declared = info.args.items[args.tensor_count() + i];
    if (!declared.any_dtype && declared.dtype != args.scalar_at(i).dtype)
      return {args.tensor_count() + i, "the kernel declares this scalar with another dtype"};
  }
  return {};
}

// Names given to dump() become marks. In a mix each kernel has the same argument list.
TM_DEVICE inline ArgProblem resolve_dump_names(const KernelInfo& info, Args& args,
                                               ArgProblem problem) {
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
TM_DEVICE constexpr std::uint64_t add_output_bytes(std::uint64_t bytes, const TensorView& view) {
  constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 63;
  const std::uint64_t wanted = view.element_count() * dtype_bytes(view.dtype);
  const std::uint64_t rounded = round_up(wanted == 0 ? 1 : wanted, kHeapAlign);
  return bytes > kTooLarge - rounded ? kTooLarge : bytes + rounded;
}

}  // namespace tidemark
