// SPDX-License-Identifier: Apache-2.0
// Test support: a region in plain memory, and the host's half of the page exchange played by hand.
// Nothing is checked here; what a producer left in the region is for the test to judge.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "tidemark/base/check.h"
#include "tidemark/transport/region.h"

namespace tidemark {

struct TakenPage {
  PageIndex page = kNoPageIndex;
  PageHeaderImage header{};
  std::vector<unsigned char> payload;
};

class RegionInMemory {
 public:
  struct Options {
    std::vector<LanePlan> lanes;
    std::uint32_t page_count = 8;
    std::uint32_t page_bytes = 1024;
    std::uint32_t ring_slots = 8;
    std::uint64_t drain_timeout_ticks = 1'000'000;
  };
  static constexpr std::uint64_t kRunId = 0x7E57;

  static LanePlan lane_of(StreamId stream, Overflow overflow, std::uint32_t record_bytes) {
    LanePlan plan{};
    plan.stream = stream;
    plan.overflow = overflow;
    plan.record_bytes = record_bytes;
    plan.reserved_first_page = kNoPageIndex;
    return plan;
  }
  static LanePlan keep_last_of(StreamId stream, std::uint32_t record_bytes, PageIndex first_page,
                               std::uint32_t pages) {
    LanePlan plan = lane_of(stream, Overflow::kKeepLast, record_bytes);
    plan.reserved_first_page = first_page;
    plan.reserved_page_count = pages;
    return plan;
  }

  explicit RegionInMemory(const Options& options)
      : handed_(options.lanes.size()), received_(options.lanes.size()) {
    const RegionShape shape{.max_lanes = static_cast<std::uint32_t>(options.lanes.size()),
                            .ring_slots = options.ring_slots,
                            .page_bytes = options.page_bytes,
                            .page_count = options.page_count,
                            .name_slots = 16};
    TM_CHECK(is_possible(shape));
    const RegionLayout layout = lay_out(shape);
    memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(4096, layout.total_bytes)));
    std::memset(memory_.get(), 0, layout.total_bytes);
    RegionIdentity identity{};
    identity.magic = kRegionMagic;
    identity.abi_version = kRegionAbiVersion;
    identity.header_bytes = kRegionHeaderBytes;
    identity.total_bytes = layout.total_bytes;
    identity.run_id = kRunId;
    identity.lane_count = shape.max_lanes;
    identity.drain_threads = 2;
    identity.shape = shape;
    identity.pool_page_count = shape.page_count;
    identity.drain_timeout_ticks = options.drain_timeout_ticks;
    identity.ticks_per_second = 1'000'000;
    std::memcpy(memory_.get(), &identity, sizeof(identity));
    view_ = RegionView(memory_.get());
    for (LaneIndex lane = 0; lane < shape.max_lanes; ++lane)
      view_.lane(lane).plan = options.lanes[lane];
  }

  [[nodiscard]] const RegionView& view() const { return view_; }
  [[nodiscard]] LaneWords& words(LaneIndex lane) const { return view_.lane(lane).words; }
  [[nodiscard]] RegionHeader& header() const { return view_.header(); }

  void hand(LaneIndex lane, PageIndex page) { view_.free_ring(lane).send(handed_[lane]++, page); }

  // The lane's next published page, as it is now.
  std::optional<TakenPage> take(LaneIndex lane) {
    const PageIndex page = view_.full_ring(lane).receive(received_[lane]);
    if (page == kNoPageIndex) return std::nullopt;
    ++received_[lane];
    auto& drained = header().host.drained_pages[0];
    drained.store_release(drained.load_own() + 1);
    return look_at(page);
  }

  [[nodiscard]] TakenPage look_at(PageIndex page) const {
    TakenPage taken{.page = page};
    std::memcpy(&taken.header, &view_.page(page), sizeof(taken.header));
    const unsigned char* payload = view_.payload(page);
    taken.payload.assign(payload, payload + view_.layout().payload_bytes());
    return taken;
  }

 private:
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  std::unique_ptr<unsigned char[], Free> memory_;
  RegionView view_;
  std::vector<std::uint64_t> handed_;
  std::vector<std::uint64_t> received_;
};

}  // namespace tidemark
