// SPDX-License-Identifier: Apache-2.0
// The ledger of one lane: what became of every number the lane gave out.
//
//   produced == delivered + recovered + dropped + overwritten
//
// It is fed with page headers in sequence and, at the end, with the lane's own words. A number
// covered by none of the four is unaccounted: then the ledger does not close. Such a number is
// missing (the page that had it did not come) or contradictory (what came does not agree with
// itself). Only missing numbers can be explained afterwards.
#pragma once

#include <array>
#include <cstdint>

#include "tidemark/ledger/page_content.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/transport/lane.h"
#include "tidemark/transport/page.h"

namespace tidemark {

struct LaneCounts {
  std::uint64_t produced = 0;
  std::uint64_t delivered = 0;
  std::uint64_t recovered = 0;
  std::uint64_t dropped = 0;
  std::array<std::uint64_t, kDropReasonCount> dropped_by{};
  std::uint64_t overwritten = 0;
  std::uint64_t incomplete = 0;     // not whole when the lane was read; outside the identity
  std::uint64_t missing = 0;        // in pages that did not come, or after the last one
  std::uint64_t contradictory = 0;  // seen twice, sealed but torn, reasons that do not add up
  std::uint64_t bytes = 0;          // of payload kept
  std::uint64_t pages = 0;
  std::uint64_t stall_ticks = 0;
  std::uint64_t gaps = 0;
  std::uint64_t gap_lost = 0;  // sum over the gap fields; equals the device's own drops

  void add(const LaneCounts& other);
  // Numbers nothing explains.
  [[nodiscard]] std::uint64_t unaccounted() const { return missing + contradictory; }
  [[nodiscard]] bool closes() const {
    return unaccounted() == 0 && produced == delivered + recovered + dropped + overwritten;
  }
};

enum class PageFate { kDelivered, kRecovered, kFileError };

class LaneLedger {
 public:
  explicit LaneLedger(Overflow overflow = Overflow::kWait) : overflow_(overflow) {}

  // Pages come in sequence. `counts` is what count_page found in an open or recovered page; for a
  // page that the producer sealed and published the header is enough.
  void add_page(const PageHeaderImage& header, PageFate fate, std::uint64_t payload_bytes);
  void add_counted_page(const PageHeaderImage& header, const PageCounts& counts, PageFate fate);

  // The lane's words, read after its last page. Without them (a capture that lost its end) what
  // happened after the last page stays unknown.
  void finish(const LaneWordsImage& words);
  void finish_without_words();
  // After finish: up to `count` missing numbers are known to have been lost for this reason.
  void explain(DropReason why, std::uint64_t count);

  [[nodiscard]] const LaneCounts& counts() const { return counts_; }
  [[nodiscard]] std::uint64_t last_sequence() const { return last_sequence_; }
  // What the device itself had refused by the newest page.
  [[nodiscard]] std::uint64_t dropped_total() const { return dropped_total_seen_; }

 private:
  void account_start(const PageHeaderImage& header);
  [[nodiscard]] std::uint64_t dropped_up_to(const PageHeaderImage& header, bool follows) const;
  void lose(std::uint64_t count, bool pages_are_missing);
  std::uint64_t take_orphan(const PageHeaderImage& header, std::uint64_t count, PageFate fate);
  void settle_reasons(const LaneWordsImage& words);

  Overflow overflow_;
  LaneCounts counts_;
  std::uint64_t next_number_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t dropped_total_seen_ = 0;
  std::uint64_t device_dropped_ = 0;
  bool last_was_open_ = false;  // the newest page was still being filled when it was taken
  enum class Orphan { kNo, kOfFile, kOfMissingPages };
  Orphan orphan_ = Orphan::kNo;  // how the frame under way lost an earlier fragment
};

}  // namespace tidemark
