// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/capture_ledger.h"

#include <cstring>

#include "tidemark/capture/page_chunks.h"
#include "tidemark/capture/page_cursor.h"

namespace tidemark {
namespace {

void take_page(CaptureLedger& ledger, const IndexEntry& chunk, const PageOfChunk& page,
               const std::function<void(const CapturedPage&)>& visit) {
  if (!page.readable) {
    ++ledger.unreadable_pages;
    return;
  }
  if (!page.sound()) {
    ledger.faults.add(page.fault);
    return;
  }
  const PageHeaderImage& header = page.header;
  const bool open = (chunk.flags & kFlagOpen) != 0;
  const PageKey key{header.lane, header.epoch, header.sequence};
  if (!ledger.keys.insert({key, {.bytes = page.payload.size(), .open = open}}).second) {
    ++ledger.duplicate_pages;
    return;
  }
  const bool recovered = (chunk.flags & kFlagRecovered) != 0;
  const PageCounts counts = count_page(header, page.payload);
  CapturedLane& lane = ledger.lanes[header.lane];
  lane.before_open.reset();
  if (open) lane.before_open = lane.ledger;
  lane.ledger.add_counted_page(header, counts,
                               recovered ? PageFate::kRecovered : PageFate::kDelivered);
  if (visit) visit({lane.plan, header, page.payload, recovered});
}

}  // namespace

Expected<CaptureLedger> read_ledger(CaptureReader& reader, std::vector<LanePlan> lanes,
                                    std::uint32_t page_bytes,
                                    const std::function<void(const CapturedPage&)>& visit,
                                    LedgerOf what) {
  if (page_bytes < kPageBytesMin || page_bytes > kPageBytesMax)
    return failure(ErrorKind::kDamage, "the capture's description names impossible pages of {}",
                   page_bytes);
  CaptureLedger ledger;
  const auto records = read_lane_records(reader);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const bool has_words = i < records.size();
    LaneRecord lane = has_words ? records[i] : LaneRecord{};
    // Only a lane that was opened at run time is described there and not in `lanes`.
    if (lanes[i].stream != StreamId::kNone ||
        !is_known_lane(lane.plan, page_bytes - kPageHeaderBytes))
      lane.plan = lanes[i];
    ledger.lanes.push_back({lane, LaneLedger(lane.plan.overflow), has_words});
  }
  const PagesOfRun run{static_cast<std::uint32_t>(ledger.lanes.size()), page_bytes};
  std::vector<std::uint64_t> next(ledger.lanes.size(), 1);
  for (const auto& chunk : page_chunks(reader)) {
    const bool known = chunk.lane < next.size();
    if (what == LedgerOf::kLiveFile && known && chunk.sequence != next[chunk.lane]) continue;
    if (known) next[chunk.lane] = chunk.sequence + 1;
    const LanePlan* plan = known ? &ledger.lanes[chunk.lane].plan : nullptr;
    take_page(ledger, chunk, read_page(reader, chunk, run, plan), visit);
  }
  return ledger;
}

void finish_lanes(CaptureLedger& ledger) {
  for (auto& lane : ledger.lanes) {
    if (lane.has_words)
      lane.ledger.finish(lane.words);
    else
      lane.ledger.finish_without_words();
    lane.ledger.explain(DropReason::kFileError, lane.file_error_dropped);
    lane.ledger.explain(DropReason::kDeviceLost, lane.device_lost_dropped);
  }
}

std::vector<LaneRecord> read_lane_records(CaptureReader& reader) {
  const IndexEntry* chunk = reader.last_of(ChunkType::kLanes);
  if (chunk == nullptr) return {};
  const auto bytes = reader.read(*chunk);
  if (!bytes || bytes->empty() || bytes->size() % sizeof(LaneRecord) != 0) return {};
  std::vector<LaneRecord> records(bytes->size() / sizeof(LaneRecord));
  std::memcpy(records.data(), bytes->data(), bytes->size());
  for (auto& record : records) record.plan.producer[kProducerTextBytes - 1] = 0;
  return records;
}

}  // namespace tidemark
