// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/capture_ledger.h"

#include <algorithm>
#include <cstring>

#include "tidemark/capture/page_chunks.h"
#include "tidemark/schema/stamp.h"

namespace tidemark {
namespace {

class LedgerReader {
 public:
  LedgerReader(CaptureReader& reader, CaptureLedger& ledger, std::uint32_t page_bytes)
      : reader_(reader), ledger_(ledger), page_bytes_(page_bytes) {}

  void take(const IndexEntry& chunk, const std::function<void(const CapturedPage&)>& visit) {
    const auto bytes = reader_.read(chunk);
    if (!bytes || bytes->size() < kPageHeaderBytes) {
      ++ledger_.unreadable_pages;
      return;
    }
    PageHeaderImage header;
    std::memcpy(&header, bytes->data(), sizeof(header));
    const auto payload = bytes->subspan(kPageHeaderBytes);
    if (const auto fault = check(header, chunk, payload.size()); fault != PageFault::kNone) {
      ledger_.faults.add(fault);
      return;
    }
    const bool open = (chunk.flags & kFlagOpen) != 0;
    const PageKey key{header.lane, header.epoch, header.sequence};
    if (!ledger_.keys.insert({key, {.bytes = payload.size(), .open = open}}).second) {
      ++ledger_.duplicate_pages;
      return;
    }
    const bool recovered = (chunk.flags & kFlagRecovered) != 0;
    const PageCounts counts = count_page(header, payload);
    CapturedLane& lane = ledger_.lanes[header.lane];
    lane.before_open.reset();
    if (open) lane.before_open = lane.ledger;
    lane.ledger.add_counted_page(header, counts,
                                 recovered ? PageFate::kRecovered : PageFate::kDelivered);
    if (visit) visit({lane.plan, header, payload, recovered});
  }

 private:
  PageFault check(const PageHeaderImage& header, const IndexEntry& chunk,
                  std::size_t payload_bytes) const {
    const PageExpectation expected{.run_id = reader_.run_id(),
                                   .lane_count = static_cast<std::uint32_t>(ledger_.lanes.size()),
                                   .payload_bytes = page_bytes_ - kPageHeaderBytes};
    if (const auto fault = check_page(header, expected); fault != PageFault::kNone) return fault;
    if (header.lane != chunk.lane) return PageFault::kWrongLane;
    if (header.sequence != chunk.sequence) return PageFault::kWrongSequence;
    if (header.used_bytes != payload_bytes) return PageFault::kBadCount;
    return check_page_of_lane(header, ledger_.lanes[header.lane].plan);
  }

  CaptureReader& reader_;
  CaptureLedger& ledger_;
  std::uint32_t page_bytes_;
};

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
    CapturedLane lane{.plan = lanes[i], .ledger = LaneLedger(Overflow::kWait)};
    if (i < records.size()) {
      // A lane opened at run time is described only here.
      if (lane.plan.stream == StreamId::kNone &&
          is_known_lane(records[i].plan, page_bytes - kPageHeaderBytes))
        lane.plan = records[i].plan;
      lane.has_words = true;
      lane.words = records[i].words;
      lane.file_error_dropped = records[i].file_error_dropped;
      lane.device_lost_dropped = records[i].device_lost_dropped;
    }
    lane.ledger = LaneLedger(lane.plan.overflow);
    ledger.lanes.push_back(lane);
  }
  LedgerReader pages(reader, ledger, page_bytes);
  std::vector<std::uint64_t> next(ledger.lanes.size(), 1);
  for (const auto& chunk : page_chunks(reader)) {
    const bool in_order = chunk.lane >= next.size() || chunk.sequence == next[chunk.lane];
    if (what == LedgerOf::kLiveFile && !in_order) continue;
    if (chunk.lane < next.size()) next[chunk.lane] = chunk.sequence + 1;
    pages.take(chunk, visit);
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
