// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/record_cursor.h"

#include <algorithm>
#include <cstring>

#include "tidemark/ledger/page_content.h"
#include "tidemark/schema/ticks48.h"

namespace tidemark {

RecordCursor::RecordCursor(PageCursor pages)
    : pages_(std::move(pages)), stream_(find_stream(pages_.plan().stream)) {}

bool RecordCursor::next_page() {
  while (pages_.next()) {
    const PageHeaderImage& header = pages_.header();
    if (header.record_bytes == 0) continue;
    payload_.assign(pages_.payload().begin(), pages_.payload().end());
    slot_ = 0;
    written_ticks_ = header.open_ticks;
    slots_ = payload_.size() / header.record_bytes;
    return true;
  }
  return false;
}

bool RecordCursor::next() {
  do {
    const PageHeaderImage& header = pages_.header();
    while (slot_ < slots_) {
      const unsigned char* record = payload_.data() + slot_ * header.record_bytes;
      number_ = header.first_number + slot_;
      ++slot_;
      if (judge_record(record, header.record_bytes, header.generation) != RecordState::kWhole)
        continue;
      std::memcpy(words_, record, std::min<std::size_t>(header.record_bytes, sizeof(words_)));
      kind_ = stream_ == nullptr ? nullptr : stream_->kind_of(words_);
      if (has_time()) written_ticks_ = full_ticks(words_[kind_->time_word], written_ticks_);
      return true;
    }
  } while (next_page());
  return false;
}

}  // namespace tidemark
