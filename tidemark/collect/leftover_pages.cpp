// SPDX-License-Identifier: Apache-2.0
#include "tidemark/collect/leftover_pages.h"

#include <algorithm>

#include "tidemark/base/fault_point.h"

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
  return planned.stream != 0 ? planned : read_lane_plan(port, plan.layout, lane);
}

class LeftoverReader {
 public:
  LeftoverReader(const RegionPort& port, const RegionPlan& plan, PageSink& sink,
                 std::vector<LaneLedger>& ledgers, Leftovers& result)
      : port_(port),
        plan_(plan),
        sink_(sink),
        ledgers_(ledgers),
        result_(result),
        page_(plan.layout.shape.page_bytes) {}

  void take(const Candidate& candidate) {
    fault_point(FaultPoint::kRecovery);
    PageHeaderImage header;
    if (!copy_page(candidate, header)) return;
    const std::span<const unsigned char> payload(page_.data() + kPageHeaderBytes,
                                                 plan_.layout.payload_bytes());
    const PageCounts counts = count_page(header, payload);
    const bool open = header.record_count == kPageOpen;
    if (open) header.used_bytes = static_cast<std::uint32_t>(counts.used_bytes);
    LaneLedger& ledger = ledgers_[candidate.lane];
    const PageFate fate = fate_of(candidate.lane);
    const bool says_nothing =
        header.used_bytes == 0 && header.dropped_before == 0 && header.stall_ticks == 0;
    const bool kept = says_nothing || sink_.append({.header = header,
                                                    .payload_bytes = header.used_bytes,
                                                    .recovered = fate == PageFate::kRecovered,
                                                    .payload = payload.data()});
    ledger.add_counted_page(header, counts, kept ? fate : PageFate::kFileError);
    ++result_.pages;
  }

 private:
  // A page of a producer that still runs may be reopened under the copy: it must be the same page
  // before and after.
  bool copy_page(const Candidate& candidate, PageHeaderImage& header) {
    const std::uint64_t offset = plan_.layout.page_offset(candidate.page);
    port_.read(offset, page_.data(), page_.size());
    std::memcpy(&header, page_.data(), sizeof(header));
    if (header.record_count == kPageOpen) settle_open_page(header, offset);
    if (header.sequence != candidate.sequence || port_.load(offset) != candidate.sequence ||
        header.lane != candidate.lane || header.record_bytes != candidate.record_bytes) {
      result_.faults.add(PageFault::kChanging);
      return false;
    }
    const PageExpectation expected{.run_id = plan_.identity.run_id,
                                   .lane_count = plan_.layout.shape.max_lanes,
                                   .payload_bytes = plan_.layout.payload_bytes()};
    if (const auto fault = check_page(header, expected); fault != PageFault::kNone) {
      result_.faults.add(fault);
      return false;
    }
    if (header.sequence <= ledgers_[candidate.lane].last_sequence()) {
      result_.faults.add(PageFault::kWrongSequence);
      return false;
    }
    return true;
  }

  // A producer that still runs stores a stamp after the rest of its quantum and a commit after its
  // fragment; one copy may meet them in the other order. What the first copy finds stamped or
  // committed is complete in a second one, and nothing else of the second is believed.
  void settle_open_page(const PageHeaderImage& header, std::uint64_t offset) {
    const std::uint64_t bytes = plan_.layout.payload_bytes();
    unsigned char* payload = page_.data() + kPageHeaderBytes;
    first_.assign(payload, payload + bytes);
    port_.read(offset + kPageHeaderBytes, payload, bytes);
    if (header.record_bytes == 0) return keep_committed(header.generation, payload, bytes);
    for (std::uint64_t at = kStampOffset; at < bytes; at += kQuantumBytes) {
      Stamp stamp;
      std::memcpy(&stamp, first_.data() + at, sizeof(stamp));
      if (stamp != header.generation) std::memset(payload + at, 0, sizeof(stamp));
    }
  }

  void keep_committed(std::uint32_t generation, unsigned char* payload, std::uint64_t bytes) {
    for (std::uint64_t at = 0; bytes - at >= kFragmentHeaderBytes;) {
      FragmentImage image;
      std::memcpy(&image, first_.data() + at, sizeof(image));
      const FragmentCommit commit = decode_commit(image.commit);
      if (commit.generation != generation) {
        std::memset(payload + at + offsetof(FragmentImage, commit), 0, sizeof(image.commit));
        return;
      }
      if (fragment_span(commit.length) > bytes - at) return;
      at += fragment_span(commit.length);
    }
  }

  // Pages of a keep-last lane that closed are where they belong; everything else was rescued.
  [[nodiscard]] PageFate fate_of(LaneIndex lane) const {
    const bool keeps =
        plan_.lanes[lane].overflow == static_cast<std::uint16_t>(Overflow::kKeepLast);
    const bool closed = result_.words[lane].state == static_cast<std::uint32_t>(LaneState::kClosed);
    return keeps && closed ? PageFate::kDelivered : PageFate::kRecovered;
  }

  const RegionPort& port_;
  const RegionPlan& plan_;
  PageSink& sink_;
  std::vector<LaneLedger>& ledgers_;
  Leftovers& result_;
  std::vector<unsigned char> page_;
  std::vector<unsigned char> first_;  // the first copy of an open page's payload
};

}  // namespace

Leftovers collect_leftovers(const RegionPort& port, const RegionPlan& plan,
                            const std::function<bool(const PageHeaderImage&)>& is_captured,
                            PageSink& sink, std::vector<LaneLedger>& ledgers) {
  Leftovers result;
  const RegionLayout& layout = plan.layout;
  for (LaneIndex lane = 0; lane < layout.shape.max_lanes; ++lane)
    result.words.push_back(read_lane_words(port, layout, lane));

  const PageExpectation expected{.run_id = plan.identity.run_id,
                                 .lane_count = layout.shape.max_lanes,
                                 .payload_bytes = layout.payload_bytes()};
  std::vector<Candidate> candidates;
  for (PageIndex page = 0; page < layout.shape.page_count; ++page) {
    const PageHeaderImage header = read_page_header(port, layout, page);
    PageFault fault = check_page(header, expected);
    if (fault == PageFault::kEmpty) continue;
    if (fault == PageFault::kNone) {
      const LanePlan lane = plan_of(port, plan, header.lane);
      fault = is_known_lane(lane, layout.payload_bytes()) ? check_page_of_lane(header, lane)
                                                          : PageFault::kUnknownLane;
    }
    if (fault != PageFault::kNone)
      result.faults.add(fault);
    else if (!is_captured(header))
      candidates.push_back({page, header.lane, header.record_bytes, header.sequence});
  }
  std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.lane != b.lane ? a.lane < b.lane : a.sequence < b.sequence;
  });
  LeftoverReader reader(port, plan, sink, ledgers, result);
  for (const auto& candidate : candidates) reader.take(candidate);
  return result;
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
