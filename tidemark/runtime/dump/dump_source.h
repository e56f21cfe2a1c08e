// SPDX-License-Identifier: Apache-2.0
// What the frame of a dumped argument is made of, as it is asked for: gathered and measured in one
// pass.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/runtime/task_slot.h"
#include "tidemark/runtime/tensor/tensor_gather.h"
#include "tidemark/runtime/tensor/tensor_stats.h"
#include "tidemark/schema/dump_frame.h"

namespace tidemark {

// What a tensor is, in the header of its frame.
TM_DEVICE inline void describe_tensor(DumpHeader& header, const StoredTensor& tensor) {
  const TensorView& view = tensor.view;
  header.kind = DumpKind::kTensor;
  header.access = tensor.access;
  header.dtype = view.dtype;
  header.rank = static_cast<std::uint8_t>(view.shape.rank);
  header.start_offset = view.offset;
  header.logical_bytes = view.element_count() * dtype_bytes(view.dtype);
  for (std::uint32_t i = 0; i < view.shape.rank && i < kRankMax; ++i) {
    header.extent[i] = view.shape.extent[i];
    header.stride[i] = view.stride[i];
  }
}

// The bytes of one dumped argument, in their order: header, payload, statistics.
class DumpSource {
 public:
  TM_DEVICE DumpSource(const DumpHeader& header, const unsigned char* memory,
                       const TensorView* view)
      : header_(header),
        gather_(memory, view != nullptr ? *view : TensorView{}),
        stats_(header.dtype),
        payload_left_(header.payload_bytes),
        has_stats_((header.flags & kDumpHasStats) != 0) {
    if (view == nullptr) payload_left_ = 0;
  }

  TM_DEVICE static std::uint64_t total_bytes(const DumpHeader& header) {
    return sizeof(DumpHeader) + header.payload_bytes +
           ((header.flags & kDumpHasStats) != 0 ? sizeof(DumpStats) : 0);
  }
  TM_DEVICE TM_NOINLINE void read(unsigned char* to, std::uint64_t bytes) {
    std::uint64_t done = copy(to, bytes, &header_, sizeof(header_), header_done_);
    if (done < bytes && payload_left_ > 0) {
      const std::uint64_t part = bytes - done < payload_left_ ? bytes - done : payload_left_;
      gather_.read(to + done, part);
      if (has_stats_) stats_.add(to + done, part);
      payload_left_ -= part;
      done += part;
    }
    if (done == bytes) return;
    if (trailer_done_ == 0) trailer_ = finish_stats();
    copy(to + done, bytes - done, &trailer_, sizeof(trailer_), trailer_done_);
  }
  // Of all elements, also those that are not kept.
  TM_DEVICE TM_NOINLINE DumpStats finish_stats() {
    unsigned char piece[kPieceBytes];
    while (gather_.left_bytes() > 0) {
      const std::uint64_t got = gather_.read(piece, sizeof(piece));
      stats_.add(piece, got);
    }
    return stats_.result();
  }

 private:
  static constexpr std::uint64_t kPieceBytes = 4096;
  TM_DEVICE static std::uint64_t copy(unsigned char* to, std::uint64_t bytes, const void* from,
                                      std::uint64_t size, std::uint64_t& done) {
    const std::uint64_t part = size - done < bytes ? size - done : bytes;
    ::memcpy(to, static_cast<const unsigned char*>(from) + done, part);
    done += part;
    return part;
  }

  DumpHeader header_;
  TensorGather gather_;
  TensorStats stats_;
  DumpStats trailer_;
  std::uint64_t payload_left_;
  std::uint64_t header_done_ = 0, trailer_done_ = 0;
  bool has_stats_;
};

}  // namespace tidemark
