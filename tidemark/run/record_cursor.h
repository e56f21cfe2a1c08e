// SPDX-License-Identifier: Apache-2.0
// The records of one lane of a capture, one after the other, in constant memory: one page.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/capture/page_cursor.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {

inline constexpr std::uint32_t kRecordWordsMax = 36;

class RecordCursor {
 public:
  explicit RecordCursor(PageCursor pages);

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
    static_assert(R::kBytes <= sizeof(words_));
    if constexpr (requires { R::unpack(words_, std::uint64_t{}); }) {
      return R::unpack(words_, written_ticks_);
    } else {
      return R::unpack(words_);
    }
  }

 private:
  bool next_page();

  PageCursor pages_;
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
