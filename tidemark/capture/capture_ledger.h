// SPDX-License-Identifier: Apache-2.0
// The ledger by a capture alone: every page is read, its stamps are judged, its numbers
// are followed. Recovery continues it with the region; check compares it with run.json.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tidemark/capture/capture_reader.h"
#include "tidemark/capture/lane_record.h"
#include "tidemark/ledger/ledger.h"
#include "tidemark/ledger/page_check.h"

namespace tidemark {

struct PageKey {
  std::uint32_t lane = 0;
  std::uint32_t epoch = 0;
  std::uint64_t sequence = 0;
  auto operator<=>(const PageKey&) const = default;
};

struct CapturedPayload {
  std::uint64_t bytes = 0;
  bool open = false;  // the page was not sealed: its lane may have written more into it
};

struct CapturedLane : LaneRecord {
  LaneLedger ledger;
  bool has_words = false;                      // the record is more than the plan
  std::optional<LaneLedger> before_open = {};  // without the last page, where that one was open
};

struct CaptureLedger {
  std::vector<CapturedLane> lanes;
  std::map<PageKey, CapturedPayload> keys;  // pages that are whole in the capture
  FaultCounts faults;
  std::uint64_t unreadable_pages = 0;
  std::uint64_t duplicate_pages = 0;
};

// A page of the capture, checked.
struct CapturedPage {
  const LanePlan& lane;
  const PageHeaderImage& header;
  std::span<const unsigned char> payload;
  bool recovered;
};

// Reads every page of the capture. `lanes` comes from the capture's description. The ledgers are
// left open: finish_lanes closes them. Pages of one lane are visited in sequence.
// Of a file that is being written, pages after one that was not sealed yet when it was passed are
// left for later: the pages of a lane are sealed in order.
enum class LedgerOf { kWholeFile, kLiveFile };
Expected<CaptureLedger> read_ledger(CaptureReader& reader, std::vector<LanePlan> lanes,
                                    std::uint32_t page_bytes,
                                    const std::function<void(const CapturedPage&)>& visit = {},
                                    LedgerOf what = LedgerOf::kWholeFile);

// Closes every ledger with the lanes chunk, or without it if there is none.
void finish_lanes(CaptureLedger& ledger);

// The last whole lanes chunk; empty if the capture has none.
std::vector<LaneRecord> read_lane_records(CaptureReader& reader);

}  // namespace tidemark
