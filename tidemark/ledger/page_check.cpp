// SPDX-License-Identifier: Apache-2.0
#include "tidemark/ledger/page_check.h"

#include "tidemark/schema/enum_text.h"
#include "tidemark/schema/stamp.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/transport/fragment.h"

namespace tidemark {

std::string_view to_text(PageFault fault) {
  return enum_text(fault, PageFault::kNone,
                   {"none", "empty page", "page of another run", "page of an unknown lane",
                    "page of another lane", "page out of sequence", "impossible generation",
                    "wrong record size", "impossible record count", "impossible frame offset",
                    "published but not sealed", "impossible page index", "rewritten while read"});
}

PageFault check_page(const PageHeaderImage& header, const PageExpectation& expected) {
  if (header.sequence == 0) return PageFault::kEmpty;
  if (header.run_id != expected.run_id) return PageFault::kForeignRun;
  if (header.lane >= expected.lane_count) return PageFault::kUnknownLane;
  if (header.generation == 0 || header.generation > kGenerationMax)
    return PageFault::kBadGeneration;
  if (header.used_bytes > expected.payload_bytes) return PageFault::kBadCount;
  if (header.dropped_before > header.first_number) return PageFault::kBadCount;
  if (header.gap_reason >= kDropReasonCount) return PageFault::kBadCount;
  if (header.first_frame_offset != kNoFrame &&
      (header.record_bytes != 0 || header.first_frame_offset % 16 != 0 ||
       header.first_frame_offset >= expected.payload_bytes))
    return PageFault::kBadFrameOffset;
  if (header.record_count == kPageOpen) return PageFault::kNone;
  if (header.record_bytes != 0) {
    if (header.used_bytes % header.record_bytes != 0 ||
        header.record_count != header.used_bytes / header.record_bytes)
      return PageFault::kBadCount;
  } else if (header.used_bytes % kQuantumBytes != 0 ||
             header.record_count > header.used_bytes / kFragmentHeaderBytes) {
    return PageFault::kBadCount;
  }
  return PageFault::kNone;
}

PageFault check_page_of_lane(const PageHeaderImage& header, const LanePlan& plan) {
  return header.record_bytes == plan.record_bytes ? PageFault::kNone : PageFault::kWrongRecordSize;
}

bool is_known_lane(const LanePlan& plan, std::uint32_t payload_bytes) {
  const StreamInfo* stream = find_stream(plan.stream);
  return stream != nullptr && plan.record_bytes % kQuantumBytes == 0 &&
         plan.record_bytes >= stream->record_bytes && plan.record_bytes <= payload_bytes &&
         (plan.record_bytes == 0) == (stream->record_bytes == 0);
}

std::uint64_t FaultCounts::total() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < kPageFaultCount; ++i) sum += counts_[i];
  return sum;
}

}  // namespace tidemark
