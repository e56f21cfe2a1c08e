// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/record_cursor.h"

#include <algorithm>
#include <cstring>

#include "tidemark/schema/ticks48.h"

namespace tidemark {

RecordCursor::RecordCursor(CaptureReader* reader, const LanePlan& plan, LaneIndex lane,
                           std::uint32_t lane_count, std::uint32_t page_bytes,
                           std::vector<IndexEntry> pages)
    : reader_(reader),
      plan_(plan),
      lane_(lane),
      lane_count_(lane_count),
      page_bytes_(page_bytes),
      pages_(std::move(pages)),
      stream_(find_stream(plan.stream)) {}

bool RecordCursor::next_page() {
  while (next_page_ < pages_.size()) {
    const IndexEntry& chunk = pages_[next_page_++];
    const auto bytes = reader_->read(chunk);
    if (!bytes || bytes->size() < kPageHeaderBytes) continue;
    std::memcpy(&header_, bytes->data(), sizeof(header_));
    const PageExpectation expected{.run_id = reader_->run_id(),
                                   .lane_count = lane_count_,
                                   .payload_bytes = page_bytes_ - kPageHeaderBytes};
    if (check_page(header_, expected) != PageFault::kNone || header_.lane != lane_ ||
        check_page_of_lane(header_, plan_) != PageFault::kNone || header_.record_bytes == 0)
      continue;
    // A page stands twice where a recovery was interrupted.
    if (header_.sequence == last_sequence_ && header_.epoch == last_epoch_) continue;
    last_sequence_ = header_.sequence;
    last_epoch_ = header_.epoch;
    payload_.assign(bytes->begin() + kPageHeaderBytes, bytes->end());
    slot_ = 0;
    written_ticks_ = header_.open_ticks;
    slots_ = payload_.size() / header_.record_bytes;
    if (header_.record_count != kPageOpen)
      slots_ = std::min<std::uint64_t>(slots_, header_.used_bytes / header_.record_bytes);
    return true;
  }
  return false;
}

bool RecordCursor::next() {
  for (;;) {
    while (slot_ < slots_) {
      const unsigned char* record = payload_.data() + slot_ * header_.record_bytes;
      number_ = header_.first_number + slot_;
      ++slot_;
      if (judge_record(record, header_.record_bytes, header_.generation) != RecordState::kWhole)
        continue;
      std::memcpy(words_, record, std::min<std::size_t>(header_.record_bytes, sizeof(words_)));
      kind_ = stream_ == nullptr ? nullptr : stream_->kind_of(words_);
      if (has_time()) written_ticks_ = full_ticks(words_[kind_->time_word], written_ticks_);
      return true;
    }
    if (!next_page()) return false;
  }
}

}  // namespace tidemark
