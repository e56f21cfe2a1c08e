// SPDX-License-Identifier: Apache-2.0
// The elements of a view in device memory, in row-major order, read by copies of bounded size:
// where the transport is copied the host has no mapping of that memory. A view is cut into slices
// until all that lies between the first and the last element of one fits into a piece.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tidemark/device/device_memory.h"
#include "tidemark/runtime/tensor/tensor_gather.h"

namespace tidemark {

inline constexpr std::uint64_t kViewPieceBytes = 1u << 20;

// fn(bytes) for each piece; false: enough. Returns false if the memory refused. The view lies
// within the memory.
template <class Fn>
bool read_view(const DeviceMemory& memory, const TensorView& view, const Fn& fn) {
  std::vector<std::byte> span;
  std::vector<unsigned char> piece;
  std::vector<TensorView> todo{view};  // the next one last
  while (!todo.empty()) {
    TensorView part = todo.back();
    todo.pop_back();
    const std::uint64_t size = dtype_bytes(part.dtype), count = part.element_count();
    if (count == 0) continue;
    const std::uint64_t span_bytes = (part.end_element() - part.offset) * size;
    if (count > 1 && (span_bytes > kViewPieceBytes || count > kViewPieceBytes / size)) {
      std::uint32_t dim = 0;
      while (part.shape.extent[dim] == 1) ++dim;
      const std::uint64_t extent = part.shape.extent[dim], half = extent / 2;
      todo.push_back(part.slice(dim, half, extent - half));
      todo.push_back(part.slice(dim, 0, half));
      continue;
    }
    span.resize(span_bytes);
    if (!memory.read(part.buffer + part.offset * size, span)) return false;
    part.buffer = part.offset = 0;
    piece.resize(count * size);
    TensorGather(reinterpret_cast<const unsigned char*>(span.data()), part)
        .read(piece.data(), piece.size());
    if (!fn(std::span<const unsigned char>(piece))) return true;
  }
  return true;
}

}  // namespace tidemark
