// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/not_finite_tasks.h"

#include <algorithm>
#include <cstring>

#include "tidemark/schema/dump_frame.h"
#include "tidemark/tiles/tile_codec.h"

namespace tidemark {
namespace {

// What a task had in its arguments: before its kernel it was read, after it written.
constexpr std::uint16_t kReadNan = 1, kReadInf = 2, kWroteNan = 4, kWroteInf = 8;

std::uint16_t flags_of(std::uint16_t had) {
  const bool made = ((had & kWroteNan) != 0 && (had & kReadNan) == 0) ||
                    ((had & kWroteInf) != 0 && (had & kReadInf) == 0);
  return made ? kTileNotFinite | kTileMadeNotFinite : kTileNotFinite;
}

// The two ends of a frame as its fragments come; what is between them may be of any size.
class FrameEnds {
 public:
  void take(const Fragment& fragment, TaskFlags& had) {
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
    if (fragment.last && next_ == fragment.total_bytes) finish(had);
  }

 private:
  void finish(TaskFlags& had) const {
    if (next_ < sizeof(DumpHeader) + sizeof(DumpStats)) return;
    DumpHeader header;
    DumpStats stats;
    std::memcpy(&header, head_, sizeof(header));
    std::memcpy(&stats, tail_, sizeof(stats));
    const bool has_stats = header.magic == kDumpMagic && header.kind == DumpKind::kTensor &&
                           (header.flags & kDumpHasStats) != 0 &&
                           header.payload_bytes == next_ - sizeof(header) - sizeof(stats);
    if (!has_stats || (stats.nan == 0 && stats.inf == 0)) return;
    const bool before = header.stage == DumpStage::kBeforeDispatch;
    std::uint16_t& of_task = had[header.task_id];
    if (stats.nan > 0) of_task |= before ? kReadNan : kWroteNan;
    if (stats.inf > 0) of_task |= before ? kReadInf : kWroteInf;
  }

  std::uint64_t number_ = 0;
  std::uint64_t next_ = ~std::uint64_t{0};
  std::size_t head_bytes_ = 0;
  unsigned char head_[sizeof(DumpHeader)] = {};
  unsigned char tail_[sizeof(DumpStats)] = {};
};

}  // namespace

TaskFlags not_finite_tasks(RunCapture& run) {
  TaskFlags found;
  for (const LaneIndex lane : run.lanes_of(StreamId::kDump)) {
    FrameEnds ends;
    run.for_each_fragment_of(lane, [&](const Fragment& fragment, std::uint32_t, std::uint64_t) {
      ends.take(fragment, found);
    });
  }
  for (auto& [task, flags] : found) flags = flags_of(flags);
  return found;
}

}  // namespace tidemark
