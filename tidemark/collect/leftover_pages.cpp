// SPDX-License-Identifier: Apache-2.0
#include "tidemark/collect/leftover_pages.h"

#include <algorithm>

#include "tidemark/base/fault_plan.h"
#include "tidemark/transport/open_page.h"

namespace tidemark {
namespace {

struct Candidate {
  PageIndex page;
  LaneIndex lane;
  std::uint32_t record_bytes;
  std::uint64_t sequence;
};

// Planned lanes are described by the plan, lanes of run time by the region.
LanePlan plan_of(const RegionPort& port, const RegionPlan& plan, LaneIndex lane) {
  const LanePlan& planned = plan.lanes[lane];
  return planned.stream != StreamId::kNone ? planned : read_lane_plan(port, plan.layout, lane);
}

bool is_closed(const LaneWordsImage& words) { return words.state == LaneState::kClosed; }

class LeftoverReader {
 public:
  LeftoverReader(const RegionPort& port, const RegionPlan& plan, PageSink& sink,
                 std::vector<LaneLedger>& ledgers, Producers producers)
      : port_(port),
        plan_(plan),
        sink_(sink),
        ledgers_(ledgers),
        producers_(producers),
        page_(plan.layout.shape.page_bytes) {}

  void read_words() {
    for (LaneIndex lane = 0; lane < plan_.layout.shape.max_lanes; ++lane)
      result_.words.push_back(read_moving_lane_words(port_, plan_.layout, lane));
  }

  // The pages that nobody captured, by lane and sequence.
  std::vector<Candidate> find_pages(
      const std::function<bool(const PageHeaderImage&)>& is_captured) {
    std::vector<Candidate> candidates;
    for (PageIndex page = 0; page < plan_.layout.shape.page_count; ++page) {
      const PageHeaderImage header = read_page_header(port_, plan_.layout, page);
      if (header.sequence == 0) continue;
      // pairs with [page emptied]
      if (port_.load(plan_.layout.page_offset(page)) != header.sequence) {
        note_reopened(header.lane);
        continue;
      }
      if (const PageFault fault = check(header); fault != PageFault::kNone) {
        result_.faults.add(fault);
        continue;
      }
      if (plan_.identity.keeps_pages != 0 && header.landed != header.sequence)
        ++result_.cut_pages;
      else if (opened_later(header))
        ++result_.later_pages;
      else if (!is_captured(header))
        candidates.push_back({page, header.lane, header.record_bytes, header.sequence});
    }
    std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
      return a.lane != b.lane ? a.lane < b.lane : a.sequence < b.sequence;
    });
    return candidates;
  }

  void take(const Candidate& candidate) {
    fault_point(FaultPoint::kRecovery);
    PageHeaderImage header;
    const bool sound = copy_page(candidate, header);
    // What was read instead of it, or of pages before it, is not what the region holds.
    if (port_.read_error() != 0) {
      result_.refused_bytes += page_.size();
      return;
    }
    if (!sound) return;
    const std::span<const unsigned char> payload(page_.data() + kPageHeaderBytes,
                                                 plan_.layout.payload_bytes());
    const PageCounts counts = count_page(header, payload);
    const bool open = header.record_count == kPageOpen;
    if (open) header.used_bytes = static_cast<std::uint32_t>(counts.used_bytes);
    LaneLedger& ledger = ledgers_[candidate.lane];
    const PageFate fate = fate_of(candidate.lane);
    const bool says_nothing =
        header.used_bytes == 0 && header.dropped_before == 0 && header.stall_ticks == 0;
    const bool kept = says_nothing || (refused_lane_ != candidate.lane &&
                                       sink_.append({.header = header,
                                                     .payload_bytes = header.used_bytes,
                                                     .recovered = fate == PageFate::kRecovered,
                                                     .open = open,
                                                     .payload = payload.data()}));
    if (!kept) {
      refused_lane_ = candidate.lane;  // pages come lane by lane
      result_.refused_bytes += kPageHeaderBytes + header.used_bytes;
    }
    ledger.add_counted_page(header, counts, kept ? fate : PageFate::kFileError);
    ++result_.pages;
  }

  // After the pages: the words of a lane that went on agree with what was read of it. What was
  // refused later belongs to later attempts; only the newest reason may have grown.
  Leftovers finish() {
    if (port_.read_error() != 0 && result_.refused_bytes == 0) result_.refused_bytes = page_.size();
    for (LaneIndex lane = 0; lane < result_.words.size(); ++lane)
      if (may_run(lane)) settle_drops(result_.words[lane], ledgers_[lane].dropped_total());
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool may_run(LaneIndex lane) const {
    return producers_ == Producers::kMayRun && !is_closed(result_.words[lane]);
  }

  [[nodiscard]] bool opened_later(const PageHeaderImage& header) const {
    return may_run(header.lane) && header.sequence > result_.words[header.lane].opened_pages;
  }

  void settle_drops(LaneWordsImage& words, std::uint64_t dropped_by_pages) {
    words.dropped_total = std::max(words.dropped_total, dropped_by_pages);
    std::uint64_t named = 0;
    for (const std::uint64_t count : words.dropped_by) named += count;
    for (std::uint32_t i = 0; named > words.dropped_total && i <= kDropReasonCount; ++i) {
      const std::uint32_t reason = i == 0 ? words.tail_gap_reason % kDropReasonCount : i - 1;
      const std::uint64_t later = std::min(named - words.dropped_total, words.dropped_by[reason]);
      words.dropped_by[reason] -= later;
      named -= later;
      result_.later_drops += later;
    }
  }

  // A lane that keeps its last pages reopens them all the time, and one that goes on opens the
  // pages it holds. Anybody else has no business with a page that can be found here.
  void note_reopened(LaneIndex lane) {
    const bool known = lane < plan_.lanes.size();
    const bool keeps = known && plan_.lanes[lane].overflow == Overflow::kKeepLast;
    if (producers_ == Producers::kMayRun || keeps)
      ++result_.reopened_pages;
    else
      result_.faults.add(PageFault::kChanging);
  }

  [[nodiscard]] PageFault check(const PageHeaderImage& header) const {
    if (const auto fault = check_page(header, expected_pages(plan_)); fault != PageFault::kNone)
      return fault;
    const LanePlan lane = plan_of(port_, plan_, header.lane);
    return is_known_lane(lane, plan_.layout.payload_bytes()) ? check_page_of_lane(header, lane)
                                                             : PageFault::kUnknownLane;
  }

  // A page of a producer that still runs may be reopened under the copy: it must be the same page
  // before and after.
  bool copy_page(const Candidate& candidate, PageHeaderImage& header) {
    const std::uint64_t offset = plan_.layout.page_offset(candidate.page);
    port_.read(offset, page_.data(), page_.size());
    std::memcpy(&header, page_.data(), sizeof(header));
    if (header.record_count == kPageOpen) {
      const std::span payload = std::span(page_).subspan(kPageHeaderBytes);
      first_.assign(payload.begin(), payload.end());
      port_.read(offset + kPageHeaderBytes, payload.data(), payload.size());
      settle_open_page(header, first_.data(), payload);
    }
    // pairs with [page emptied]; and a quantum of the next filling brings it along: [quantum begun]
    if (header.sequence != candidate.sequence || port_.load(offset) != candidate.sequence) {
      note_reopened(candidate.lane);
      return false;
    }
    if (header.lane != candidate.lane || header.record_bytes != candidate.record_bytes) {
      result_.faults.add(PageFault::kChanging);
      return false;
    }
    if (const auto fault = check(header); fault != PageFault::kNone) {
      result_.faults.add(fault);
      return false;
    }
    if (header.sequence <= ledgers_[candidate.lane].last_sequence()) {
      result_.faults.add(PageFault::kWrongSequence);
      return false;
    }
    return true;
  }

  // Pages of a keep-last lane that closed are where they belong; everything else was rescued.
  [[nodiscard]] PageFate fate_of(LaneIndex lane) const {
    const bool keeps = plan_.lanes[lane].overflow == Overflow::kKeepLast;
    return keeps && is_closed(result_.words[lane]) ? PageFate::kDelivered : PageFate::kRecovered;
  }

  const RegionPort& port_;
  const RegionPlan& plan_;
  PageSink& sink_;
  std::vector<LaneLedger>& ledgers_;
  Producers producers_;
  Leftovers result_;
  LaneIndex refused_lane_ = ~LaneIndex{0};
  std::vector<unsigned char> page_;
  std::vector<unsigned char> first_;  // the first copy of an open page's payload
};

}  // namespace

Leftovers collect_leftovers(const RegionPort& port, const RegionPlan& plan,
                            const std::function<bool(const PageHeaderImage&)>& is_captured,
                            PageSink& sink, std::vector<LaneLedger>& ledgers, Producers producers) {
  LeftoverReader reader(port, plan, sink, ledgers, producers);
  reader.read_words();
  for (const auto& candidate : reader.find_pages(is_captured)) reader.take(candidate);
  return reader.finish();
}

std::uint64_t readable_bytes(const RegionPort& port, const RegionPlan& plan, PageIndex page) {
  const PageHeaderImage header = read_page_header(port, plan.layout, page);
  if (check_page(header, expected_pages(plan)) != PageFault::kNone ||
      check_page_of_lane(header, plan_of(port, plan, header.lane)) != PageFault::kNone)
    return 0;
  if (header.record_count != kPageOpen) return header.used_bytes;
  std::vector<unsigned char> payload(plan.layout.payload_bytes());
  port.read(plan.layout.page_offset(page) + kPageHeaderBytes, payload.data(), payload.size());
  return count_page(header, payload).used_bytes;
}

Expected<RegionPlan> read_plan(const RegionPort& port, const std::string& path) {
  RegionPlan plan;
  if (port.bytes() < kRegionHeaderBytes)
    return failure(ErrorKind::kDamage, "{} is not a region: too small", path);
  static_assert(sizeof(RegionIdentity) % 8 == 0);
  port.read(0, &plan.identity, sizeof(plan.identity));
  if (!is_region(plan.identity, port.bytes()))
    return failure(ErrorKind::kDamage, "{} is not a region this version can read", path);
  plan.layout = lay_out(plan.identity.shape);
  for (LaneIndex lane = 0; lane < plan.identity.shape.max_lanes; ++lane)
    plan.lanes.push_back(read_lane_plan(port, plan.layout, lane));
  return plan;
}

}  // namespace tidemark
