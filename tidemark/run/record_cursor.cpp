// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/record_cursor.h"

#include <algorithm>
#include <cstring>

#include "tidemark/schema/graph_record.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {

RecordCursor::RecordCursor(PageCursor pages) : pages_(std::move(pages)) {
  const StreamInfo* stream = find_stream(static_cast<StreamId>(pages_.plan().stream));
  if (stream == nullptr) return;
  for (const Field& field : stream->fields)
    if (field.type == FieldType::kTicks48) time_word_ = field.offset / 8;
  if (stream->id == StreamId::kEdges) time_word_ = 1;  // where its tasks have it
}

// Of the records of a task graph only those of tasks have one.
bool RecordCursor::has_time() const {
  return time_word_ != kNoTime &&
         (pages_.plan().stream != static_cast<std::uint16_t>(StreamId::kEdges) ||
          graph_record_kind(words_) == GraphRecordKind::kTask);
}

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
      if (has_time()) written_ticks_ = full_ticks(words_[time_word_], written_ticks_);
      return true;
    }
  } while (next_page());
  return false;
}

}  // namespace tidemark
