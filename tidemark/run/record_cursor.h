// SPDX-License-Identifier: Apache-2.0
// The records of one lane of a capture, one after the other, in constant memory: one page. Pages
// that cannot be read or make no sense are passed over; 'tidemark check' is what reports them.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/capture/capture_ledger.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {

inline constexpr std::uint32_t kRecordWordsMax = 32;

class RecordCursor {
 public:
  // `pages` are the lane's page chunks in sequence. The reader must stay.
  RecordCursor(CaptureReader* reader, const LanePlan& plan, LaneIndex lane,
               std::uint32_t lane_count, std::uint32_t page_bytes, std::vector<IndexEntry> pages);

  // False: there is no further record.
  bool next();

  // Of the record under the cursor.
  [[nodiscard]] const std::uint64_t* words() const { return words_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  // When it was written: its own time, or the end of its span. What has no time keeps that of the
  // record before.
  [[nodiscard]] std::uint64_t written_ticks() const { return written_ticks_; }
  [[nodiscard]] bool has_time() const {
    return kind_ != nullptr && kind_->time_word != RecordKind::kNoTime;
  }
  // As what it is.
  template <class R>
  [[nodiscard]] R as() const {
    if constexpr (requires { R::unpack(words_, std::uint64_t{}); }) {
      return R::unpack(words_, written_ticks_);
    } else {
      return R::unpack(words_);
    }
  }

 private:
  bool next_page();

  CaptureReader* reader_;
  LanePlan plan_;
  LaneIndex lane_;
  std::uint32_t lane_count_;
  std::uint32_t page_bytes_;
  std::vector<IndexEntry> pages_;
  std::size_t next_page_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::uint32_t last_epoch_ = 0;
  PageHeaderImage header_{};
  std::vector<unsigned char> payload_;
  std::uint64_t slot_ = 0;
  std::uint64_t slots_ = 0;
  std::uint64_t number_ = 0;
  const StreamInfo* stream_;  // null: not known
  const RecordKind* kind_ = nullptr;
  std::uint64_t written_ticks_ = 0;
  std::uint64_t words_[kRecordWordsMax] = {};
};

}  // namespace tidemark
