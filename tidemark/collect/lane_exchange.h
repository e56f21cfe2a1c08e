// SPDX-License-Identifier: Apache-2.0
// The host's side of one lane: receives full pages, hands out free ones, and keeps its own counts
// of both. Used by one drain thread at a time. What the device says is checked here; a page that
// fails comes back as a fault and is still accounted for.
#pragma once

#include <cstdint>
#include <optional>

#include "tidemark/base/check.h"
#include "tidemark/collect/region_port.h"
#include "tidemark/ledger/page_check.h"
#include "tidemark/transport/page_ring.h"

namespace tidemark {

struct ReceivedPage {
  PageIndex page = kNoPageIndex;  // kNoPageIndex with a fault: the slot itself was nonsense
  PageFault fault = PageFault::kNone;
  PageHeaderImage header{};
};

class LaneExchange {
 public:
  LaneExchange(RegionPort* port, const RegionLayout* layout, LaneIndex lane,
               const PageExpectation& expected)
      : port_(port), layout_(layout), lane_(lane), expected_(expected) {}

  // The next published page, if its slot is there. `plan` is read by the caller: a lane opened at
  // run time is described late.
  std::optional<ReceivedPage> receive(const LanePlan& plan) {
    if (held() == 0) return std::nullopt;  // whatever the slot says, the lane has no page
    // pairs with [page sent]
    const std::uint64_t slot = port_->load(layout_->full_ring_offset(lane_) + slot_at(received_));
    const PageIndex page = decode_slot(slot, received_);
    if (page == kNoPageIndex) return std::nullopt;
    ++received_;
    ReceivedPage result{.page = page};
    if (page >= layout_->shape.page_count) {
      result.page = kNoPageIndex;
      result.fault = PageFault::kBadPageIndex;
      return result;
    }
    result.header = read_page_header(*port_, *layout_, page);
    result.fault = check(result.header, plan);
    return result;
  }

  // Asks for the next page's header and first records while the one before is still being copied:
  // they are in the producer's cache, and reading them would wait for it.
  void prefetch_next() const {
    if (held() == 0 || port_->in_place(0) == nullptr) return;
    // pairs with [page sent]
    const std::uint64_t slot = port_->load(layout_->full_ring_offset(lane_) + slot_at(received_));
    const PageIndex page = decode_slot(slot, received_);
    if (page >= layout_->shape.page_count) return;
    const unsigned char* next = port_->in_place(layout_->page_offset(page));
    for (std::uint32_t line = 0; line < 4; ++line) __builtin_prefetch(next + line * 64);
  }

  // The caller keeps handed - received within the ring.
  void hand(PageIndex page) {
    TM_CHECK(held() < layout_->shape.ring_slots);
    port_->store(layout_->free_ring_offset(lane_) + slot_at(handed_),
                 encode_slot(page, handed_));  // [page handed]
    ++handed_;
  }

  [[nodiscard]] std::uint64_t held() const { return handed_ - received_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] LaneIndex lane() const { return lane_; }

 private:
  [[nodiscard]] std::uint64_t slot_at(std::uint64_t position) const {
    return (position & (layout_->shape.ring_slots - 1)) * 8;
  }

  [[nodiscard]] PageFault check(const PageHeaderImage& header, const LanePlan& plan) const {
    if (const auto fault = check_page(header, expected_); fault != PageFault::kNone) return fault;
    if (header.lane != lane_) return PageFault::kWrongLane;
    if (header.record_count == kPageOpen) return PageFault::kNotSealed;
    if (header.sequence != received_) return PageFault::kWrongSequence;
    return check_page_of_lane(header, plan);
  }

  RegionPort* port_;
  const RegionLayout* layout_;
  LaneIndex lane_;
  PageExpectation expected_;
  std::uint64_t handed_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace tidemark
