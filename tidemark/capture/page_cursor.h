// SPDX-License-Identifier: Apache-2.0
// The pages of one lane of a capture, one after the other, in sequence. A page that cannot be read,
// makes no sense or is there a second time is passed over; 'tidemark check' is what reports it.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tidemark/capture/capture_reader.h"
#include "tidemark/ledger/page_check.h"

namespace tidemark {

// A page as its chunk has it. The payload is valid until the reader reads again.
struct PageOfChunk {
  bool readable = false;
  PageFault fault = PageFault::kEmpty;
  PageHeaderImage header{};
  std::span<const unsigned char> payload;

  [[nodiscard]] bool sound() const { return readable && fault == PageFault::kNone; }
};

struct PagesOfRun {
  std::uint32_t lane_count = 0;
  std::uint32_t page_bytes = 0;
};

// `plan` is that of the lane the chunk names; null: there is none.
PageOfChunk read_page(CaptureReader& reader, const IndexEntry& chunk, const PagesOfRun& run,
                      const LanePlan* plan);

class PageCursor {
 public:
  // `chunks` are the lane's page chunks in sequence. The reader must stay.
  PageCursor(CaptureReader* reader, const PagesOfRun& run, const LanePlan& plan,
             std::vector<IndexEntry> chunks)
      : reader_(reader), run_(run), plan_(plan), chunks_(std::move(chunks)) {}

  // False: there is no further page.
  bool next();

  // Of the page under the cursor. The payload is valid until the reader reads again.
  [[nodiscard]] const PageHeaderImage& header() const { return page_.header; }
  [[nodiscard]] std::span<const unsigned char> payload() const { return page_.payload; }
  [[nodiscard]] const IndexEntry& chunk() const { return chunks_[next_ - 1]; }
  [[nodiscard]] const LanePlan& plan() const { return plan_; }

 private:
  CaptureReader* reader_;
  PagesOfRun run_;
  LanePlan plan_;
  std::vector<IndexEntry> chunks_;
  std::size_t next_ = 0;
  PageOfChunk page_;
};

}  // namespace tidemark
