// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/not_finite_tasks.h"

#include <algorithm>
#include <cstring>

#include "tidemark/schema/dump_frame.h"

namespace tidemark {
namespace {

// The two ends of a frame as its fragments come; what is between them may be of any size.
class FrameEnds {
 public:
  void take(const Fragment& fragment, TaskSet& found) {
    if (fragment.first) {
      next_ = head_bytes_ = 0;
      number_ = fragment.frame_number;
    }
    if (fragment.frame_number != number_ || fragment.offset != next_) {
      next_ = ~std::uint64_t{0};  // an earlier fragment is missing
      return;
    }
    next_ += fragment.bytes.size();
    const auto bytes = fragment.bytes;
    const std::size_t more = std::min(bytes.size(), sizeof(head_) - head_bytes_);
    if (more > 0) std::memcpy(head_ + head_bytes_, bytes.data(), more);
    head_bytes_ += more;
    const std::size_t kept = std::min(bytes.size(), sizeof(tail_));
    std::memmove(tail_, tail_ + kept, sizeof(tail_) - kept);
    if (kept > 0)
      std::memcpy(tail_ + sizeof(tail_) - kept, bytes.data() + bytes.size() - kept, kept);
    if (fragment.last && next_ == fragment.total_bytes) finish(found);
  }

 private:
  void finish(TaskSet& found) const {
    if (next_ < sizeof(DumpHeader) + sizeof(DumpStats)) return;
    DumpHeader header;
    DumpStats stats;
    std::memcpy(&header, head_, sizeof(header));
    std::memcpy(&stats, tail_, sizeof(stats));
    const bool has_stats = header.magic == kDumpMagic && header.kind == DumpKind::kTensor &&
                           (header.flags & kDumpHasStats) != 0 &&
                           header.payload_bytes == next_ - sizeof(header) - sizeof(stats);
    if (has_stats && (stats.nan > 0 || stats.inf > 0)) found.insert(header.task_id);
  }

  std::uint64_t number_ = 0;
  std::uint64_t next_ = ~std::uint64_t{0};
  std::size_t head_bytes_ = 0;
  unsigned char head_[sizeof(DumpHeader)] = {};
  unsigned char tail_[sizeof(DumpStats)] = {};
};

}  // namespace

TaskSet not_finite_tasks(RunCapture& run) {
  TaskSet found;
  for (const LaneIndex lane : run.lanes_of(StreamId::kDump)) {
    FrameEnds ends;
    run.for_each_fragment_of(lane, [&](const Fragment& fragment, std::uint32_t, std::uint64_t) {
      ends.take(fragment, found);
    });
  }
  return found;
}

}  // namespace tidemark
