// SPDX-License-Identifier: Apache-2.0
// How a history runs and how it is judged; the histories themselves are chosen in
// page_exchange_interleaving_test.cpp.
#include "tidemark/collect/testing/exchange_history.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tidemark/collect/drain_thread.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kKeepPages = 3;

RegionRequest request_of(const HistoryPlan& plan) {
  RegionRequest request;
  for (std::uint32_t lane = 0; lane < plan.lanes; ++lane)
    request.lanes.push_back({.stream = plan.framed ? StreamId::kDump : StreamId::kSwimlane,
                             .overflow = plan.overflow,
                             .record_bytes = plan.framed ? 0 : TaskSpan::kBytes});
  request.recorder.page_bytes = 1024;
  request.keep_pages = kKeepPages;
  if (plan.overflow != Overflow::kKeepLast)
    request.recorder.pool_bytes =
        std::uint64_t{plan.lanes + plan.extra_pages} * request.recorder.page_bytes;
  request.run_id = plan.seed + 1;
  request.ticks_per_second = 1'000'000;
  request.recorder.drain_timeout_ms = 1;  // 1000 ticks, a hundred pauses
  return request;
}

}  // namespace

ExchangeHistory::ExchangeHistory(const HistoryPlan& plan)
    : history_(plan), random_(plan.seed), region_(request_of(plan)), lanes_(plan.lanes) {
  drainer_ = std::make_unique<Drainer>(&region_.port(), &region_.plan(), &sink_);
  // Between the moment a page is in the sink and the moment it is given back, a producer moves on.
  sink_.on_append = [this] {
    if (roll(1024) < history_.other_share * 8 && !killed_)
      operate(static_cast<LaneIndex>(roll(lanes_.size())));
  };
  if (plan.faults) fault_at_ = roll(2000);
  stepped::observe([this](stepped::Stop why) { stop(why); });
}

ExchangeHistory::~ExchangeHistory() { stepped::observe(nullptr); }

std::string ExchangeHistory::run() {
  for (std::uint32_t i = 0; i < history_.operations && !killed_; ++i)
    operate(static_cast<LaneIndex>(roll(lanes_.size())));
  if (!killed_) close_lanes();
  read_what_is_left();
  return judge();
}

void ExchangeHistory::close_lanes() {
  for (Lane& lane : lanes_) {
    lane.finished = lane.busy = true;
    try {
      if (lane.producer) lane.producer->close();
    } catch (const Killed&) {
      return;
    }
    lane.busy = false;
  }
}

// A kill ends every producer on the stack, but never unwinds the host.
void ExchangeHistory::operate(LaneIndex index) {
  Lane& lane = lanes_[index];
  if (lane.busy || lane.finished) return;
  lane.busy = true;
  try {
    if (!lane.producer)
      lane.producer =
          std::make_unique<stepped::Producer>(region_.bytes().data(), index, history_.framed);
    const std::uint64_t choice = roll(32);
    if (choice < 2) {
      lane.producer->flush();
    } else if (choice == 2) {
      lane.producer->close();
      lane.producer.reset();  // the next write opens the lane again
    } else {
      for (std::uint64_t count = 1 + roll(12); count > 0; --count) write_one(lane);
    }
    lane.busy = false;
  } catch (const Killed&) {
  }
}

void ExchangeHistory::write_one(Lane& lane) {
  const std::uint64_t number = lane.attempts;
  const auto bytes = static_cast<std::uint32_t>(roll(8) == 0 ? roll(3000) : roll(200));
  const bool taken =
      history_.framed ? lane.producer->write_frame(number, bytes) : lane.producer->write(number);
  if (taken) lane.accepted.push_back(number);
  ++lane.attempts;
}

void ExchangeHistory::stop(stepped::Stop why) {
  if (killed_) throw Killed{};
  if (why == stepped::Stop::kStore && stops_++ >= history_.kill_at) killed_ = true;
  if (killed_) throw Killed{};
  if (stops_ >= fault_at_) {
    RegionHeader& header = region_.view().header();
    const std::uint64_t fault = history_.seed % 3;
    if (fault == 0) header.host.abort.store_release(1);
    if (fault == 1) header.device.host_gone.store_release(1);
    host_stopped_ = fault != 0;
  }
  const std::uint32_t host_share = why == stepped::Stop::kPause ? 300 : history_.host_share;
  if (roll(1024) < host_share) run_host();
  if (!killed_ && roll(1024) < history_.other_share)
    operate(static_cast<LaneIndex>(roll(lanes_.size())));
  if (killed_) throw Killed{};
}

void ExchangeHistory::run_host() {
  if (host_runs_ || host_stopped_) return;
  host_runs_ = true;
  drainer_->thread(0).pass();
  host_runs_ = false;
}

void ExchangeHistory::read_what_is_left() {
  stepped::observe(nullptr);
  sink_.on_append = nullptr;
  if (history_.host_dies_too) {
    // What a recovery has: the sink's pages, in sequence, and the region.
    for (const LanePlan& lane : region_.plan().lanes) ledgers_.emplace_back(lane.overflow);
    for (const auto& [key, page] : sink_.pages())
      ledgers_[page.header.lane].add_page(page.header, PageFate::kDelivered,
                                          page.header.used_bytes);
  } else {
    drainer_->drain_now();
    ledgers_ = drainer_->ledgers();
  }
  for (const auto& ledger : drainer_->ledgers()) received_.push_back(ledger.counts().pages);
  leftovers_ = collect_leftovers(
      region_.port(), region_.plan(),
      [this](const PageHeaderImage& header) { return sink_.holds(header); }, sink_, ledgers_);
  for (LaneIndex lane = 0; lane < lanes_.size(); ++lane) {
    ledgers_[lane].finish(leftovers_.words[lane]);
    total_.add(ledgers_[lane].counts());
  }
}

std::string ExchangeHistory::judge() {
  if (drainer_->stats().faults.total() != 0) return "the drainer saw a corruption";
  if (leftovers_.faults.total() != 0) return "the recovery saw a corruption";
  if (sink_.twice() != 0) return "a page is in the sink twice";
  for (LaneIndex lane = 0; lane < lanes_.size(); ++lane)
    if (const std::string wrong = judge_lane(lane); !wrong.empty())
      return fmt::format("lane {}: {}", lane, wrong);
  return judge_pages();
}

std::string ExchangeHistory::judge_lane(LaneIndex index) {
  const Lane& lane = lanes_[index];
  const LaneCounts& counts = ledgers_[index].counts();
  const std::uint64_t in_flight = killed_ && lane.busy ? 1 : 0;
  if (!counts.closes())
    return fmt::format("open ledger: {} != {} + {} + {} + {}, {} unaccounted", counts.produced,
                       counts.delivered, counts.recovered, counts.dropped, counts.overwritten,
                       counts.unaccounted());
  std::uint64_t reasons = 0;
  for (const std::uint64_t count : counts.dropped_by) reasons += count;
  if (reasons != counts.dropped) return "reasons do not sum to dropped";
  if (counts.gap_lost != counts.dropped) return "gap fields do not sum to dropped";
  if (counts.produced < lane.attempts || counts.produced > lane.attempts + in_flight)
    return fmt::format("produced {} of {} attempts", counts.produced, lane.attempts);
  const std::uint64_t refused = lane.attempts - lane.accepted.size();
  if (counts.dropped < refused || counts.dropped > refused + in_flight)
    return fmt::format("dropped {} of {} refused", counts.dropped, refused);

  const auto found =
      history_.framed ? sink_.frames_of(index, stepped::frame_byte) : sink_.spans_of(index);
  if (found.wrong != 0) return fmt::format("{} records are wrong", found.wrong);
  if (found.numbers.size() != counts.delivered + counts.recovered)
    return fmt::format("{} found, {} in the ledger", found.numbers.size(),
                       counts.delivered + counts.recovered);
  std::uint64_t gone = 0;
  for (const std::uint64_t number : lane.accepted) gone += !found.numbers.contains(number);
  if (gone != counts.overwritten) return fmt::format("{} accepted records are gone", gone);
  const std::uint64_t more = found.numbers.size() + gone - lane.accepted.size();
  if (more > in_flight) return fmt::format("{} records more than were accepted", more);
  if (history_.overflow != Overflow::kKeepLast) return {};
  for (const std::uint64_t number : lane.accepted)  // what is gone is older than all that is there
    if (!found.numbers.contains(number) && !found.numbers.empty() &&
        number > *found.numbers.begin())
      return fmt::format("record {} is gone from the middle", number);
  return {};
}

// Every page of the pool is with the host or with exactly one lane.
std::string ExchangeHistory::judge_pages() {
  if (history_.overflow == Overflow::kKeepLast) return {};
  std::uint64_t with_lanes = 0;
  std::vector<std::uint32_t> seen(region_.plan().layout.shape.page_count);
  const std::uint32_t slots = region_.plan().layout.shape.ring_slots;
  for (LaneIndex lane = 0; lane < lanes_.size(); ++lane) {
    std::vector<PageIndex> pages;
    const LaneWordsImage& words = leftovers_.words[lane];
    for (std::uint64_t i = 0; i < slots; ++i) {
      const PageIndex page = region_.view().free_ring(lane).receive(words.acquired_count + i);
      if (page == kNoPageIndex) break;
      pages.push_back(page);
    }
    bool open_is_sent = false;
    for (std::uint64_t i = 0; i < slots; ++i) {
      const PageIndex page = region_.view().full_ring(lane).receive(received_[lane] + i);
      if (page == kNoPageIndex) break;
      pages.push_back(page);
      open_is_sent |= page == words.open_page_index;
    }
    const bool opened = words.state != LaneState::kUnopened;
    if (opened && words.open_page_index != ~std::uint64_t{0} && !open_is_sent)
      pages.push_back(static_cast<PageIndex>(words.open_page_index));
    const std::uint64_t held = drainer_->held_pages(lane);
    const bool one_in_hand = killed_ && lanes_[lane].busy && pages.size() + 1 == held;
    if (pages.size() != held && !one_in_hand)
      return fmt::format("lane {} has {} pages, the host gave it {}", lane, pages.size(), held);
    with_lanes += held;
    for (const PageIndex page : pages)
      if (page >= seen.size() || seen[page]++ != 0)
        return fmt::format("page {} is in two places", page);
  }
  if (with_lanes + drainer_->free_pages() != region_.plan().pool_page_count())
    return fmt::format("{} pages with lanes, {} free, of {}", with_lanes, drainer_->free_pages(),
                       region_.plan().pool_page_count());
  return {};
}

// The judge itself must be able to say no.
TEST(ExchangeHistory, ADeviceThatIsNeverKilledLosesNothingUnderWait) {
  ExchangeHistory history({.seed = 1, .operations = 300, .other_share = 0});
  EXPECT_EQ(history.run(), "");
  EXPECT_FALSE(history.killed());
  EXPECT_GT(history.total().delivered, 1000u);
  EXPECT_EQ(history.total().dropped, 0u);
}

TEST(ExchangeHistory, TheSameSeedIsTheSameHistory) {
  const HistoryPlan plan{.seed = 7, .overflow = Overflow::kDrop, .kill_at = 900};
  ExchangeHistory first(plan);
  EXPECT_EQ(first.run(), "");
  ExchangeHistory second(plan);
  EXPECT_EQ(second.run(), "");
  EXPECT_EQ(first.stops(), second.stops());
  EXPECT_EQ(first.total().delivered, second.total().delivered);
  EXPECT_EQ(first.total().dropped, second.total().dropped);
}

}  // namespace tidemark
