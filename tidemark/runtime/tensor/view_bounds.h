// SPDX-License-Identifier: Apache-2.0
// Whether a view can be read at all. Views are in device memory, where a program may have
// overwritten them, and a program may describe its words wrongly.
#pragma once

#include <cstdint>

#include "tidemark/runtime/tensor/tensor_view.h"

namespace tidemark {

// Every element lies in the first `memory_bytes` of memory. No number of the view is believed.
TM_DEVICE inline bool lies_within(const TensorView& view, std::uint64_t memory_bytes) {
  if (view.shape.rank > kRankMax || static_cast<std::uint32_t>(view.dtype) >= kDTypeCount)
    return false;
  std::uint64_t last = view.offset, count = 1;
  TM_UNROLL_NEVER
  for (std::uint32_t i = 0; i < view.shape.rank; ++i)
    if (view.shape.extent[i] == 0) return true;  // nothing is read
  if (last > memory_bytes) return false;
  TM_UNROLL_NEVER
  for (std::uint32_t i = 0; i < view.shape.rank; ++i) {
    const std::uint64_t steps = view.shape.extent[i] - 1;
    if (steps > 0 && view.stride[i] > (memory_bytes - last) / steps) return false;
    last += steps * view.stride[i];
    if (count > memory_bytes / view.shape.extent[i]) return false;
    count *= view.shape.extent[i];
  }
  const std::uint64_t size = dtype_bytes(view.dtype);
  if (last >= memory_bytes / size) return false;
  return view.buffer <= memory_bytes - (last + 1) * size;
}

}  // namespace tidemark
