// SPDX-License-Identifier: Apache-2.0
#include "tidemark/collect/drain_thread.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <chrono>

#include "tidemark/base/fault_plan.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/base/spin_once.h"

namespace tidemark {
namespace {

// What must happen to a page before a record lane may have it.
constexpr std::uint8_t kCarriedFrames = 1;  // its bytes may look like stamps
constexpr std::uint8_t kWorn = 2;           // its generation is used up, or it cannot be believed

constexpr std::uint32_t kPagesPerVisit = 8;
constexpr std::uint64_t kTellAtLeastNs = 1'000'000;
constexpr std::uint32_t kActiveWindow = 64;  // passes
constexpr std::uint64_t kAliveEveryNs = 50'000'000;

// Spin, yield, then sleep in doubling steps. Sleep comes only after about a tenth of a millisecond
// without a page: a drainer that sleeps between two pages of a busy producer holds it back.
constexpr std::uint32_t kSpinPasses = 64;
constexpr std::uint32_t kYieldPasses = 320;
constexpr std::uint32_t kSleepStartUs = 50;
constexpr std::uint32_t kSleepMaxUs = 2000;
constexpr std::uint32_t kLongIdlePasses = 400;  // about a tenth of a second of nothing
constexpr std::uint32_t kLongSleepUs = 5000;

}  // namespace

DrainThread::DrainThread(Drainer* drainer, std::uint32_t index, LaneRange range)
    : drainer_(drainer), index_(index), range_(range), published_(range.last - range.first) {
  const RegionPlan& plan = *drainer->plan_;
  for (LaneIndex lane = range.first; lane < range.last; ++lane)
    lanes_.emplace_back(LaneExchange(drainer->port_, &plan.layout, lane, expected_pages(plan)),
                        plan.lanes[lane]);
}

void DrainThread::hand_first_pages() {
  for (auto& lane : lanes_) {
    if (lane.plan.overflow == Overflow::kKeepLast) continue;
    if (lane.plan.reserved_page_count > 0) {
      for (std::uint32_t i = 0; i < lane.plan.reserved_page_count; ++i)
        hand(lane, lane.plan.reserved_first_page + i);
      continue;
    }
    const PageIndex page = drainer_->pool_.take_for_starving(false);
    TM_CHECK(page != kNoPageIndex);  // the plan gave every lane at least one
    hand(lane, page);
  }
}

// Half of the pool is spread over the lanes before launch: a burst at the very beginning finds
// pages. The other half goes to whoever turns out to be busy.
void DrainThread::hand_early_pages() {
  const std::uint64_t lane_count = drainer_->plan_->lanes.size();
  const std::uint64_t early = std::min<std::uint64_t>(drainer_->pool_.page_count() / 2 / lane_count,
                                                      drainer_->plan_->layout.shape.ring_slots);
  for (auto& lane : lanes_) {
    if (lane.exchange.held() == 0 || lane.plan.reserved_page_count > 0) continue;
    while (lane.exchange.held() < early) {
      const PageIndex page = drainer_->pool_.take_extra();
      if (page == kNoPageIndex) return;
      hand(lane, page);
    }
  }
}

void DrainThread::start() {
  thread_ = std::thread([this] { run(); });
}

void DrainThread::begin_finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  wake_.notify_all();
}

void DrainThread::end_finish() {
  if (thread_.joinable()) thread_.join();
}

bool DrainThread::finishing() {
  const std::lock_guard lock(mutex_);
  return finishing_;
}

void DrainThread::run() {
  ::prctl(PR_SET_NAME, "tidemark-drain");
  ::prctl(PR_SET_TIMERSLACK, 1000);
  std::uint32_t idle_passes = 0;
  std::uint64_t last_ns = monotonic_ns();
  for (;;) {
    const bool last_look = finishing();
    if (last_look) hands_pages_ = false;
    const bool moved = pass() > 0 || help() > 0;
    idle_passes = moved ? 0 : idle_passes + 1;
    if (!moved && last_look) break;
    if (!moved) idle_wait(idle_passes);
    const std::uint64_t now_ns = monotonic_ns();
    if (index_ == 0 && now_ns - alive_ns_ >= kAliveEveryNs) {
      // alone: a figure; nothing follows from it
      drainer_->port_->store(offsetof(RegionHeader, host.looked_ns), now_ns);
      alive_ns_ = now_ns;
    }
    if (moved) stats_.busy_ns += now_ns - last_ns;
    last_ns = now_ns;
  }
  stats_.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void DrainThread::idle_wait(std::uint32_t idle_passes) {
  if (idle_passes < kSpinPasses) return spin_once();
  if (idle_passes < kYieldPasses) {
    ::sched_yield();
    return;
  }
  const std::uint32_t doublings = std::min(idle_passes - kYieldPasses, 8u);
  const auto sleep = std::chrono::microseconds(
      idle_passes > kLongIdlePasses ? kLongSleepUs
                                    : std::min(kSleepStartUs << doublings, kSleepMaxUs));
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, sleep, [this] { return finishing_; });
}

std::uint32_t DrainThread::pass() {
  ++pass_count_;
  const RegionLayout& layout = drainer_->plan_->layout;
  if (!published_.empty())  // pairs with [page published]
    drainer_->port_->read(layout.published_word_offset(range_.first), published_.data(),
                          published_.size() * 8);
  const Visit own{.least_pages = 1, .waits = !hands_pages_};
  std::uint32_t moved = 0;
  full_pages_ = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    moved += visit(lane, published_[i], own);
    const std::uint64_t received = lane.received.load(std::memory_order_relaxed);
    if (received == lane.seen_received) continue;
    lane.seen_received = received;
    lane.last_active_pass = pass_count_;
  }
  stats_.max_full_pages = std::max(stats_.max_full_pages, full_pages_);
  if (pass_count_ % kActiveWindow == 0 && moved > 0) count_active();
  return moved;
}

std::uint32_t DrainThread::help() {
  const auto thread_count = static_cast<std::uint32_t>(drainer_->threads_.size());
  std::uint32_t moved = 0;
  for (std::uint32_t step = 1; step < thread_count; ++step) {
    DrainThread& other = *drainer_->threads_[(index_ + step) % thread_count];
    if (other.lanes_.empty()) continue;
    others_published_.resize(other.lanes_.size());
    drainer_->port_->read(drainer_->plan_->layout.published_word_offset(other.range_.first),
                          others_published_.data(), others_published_.size() * 8);
    for (std::size_t i = 0; i < other.lanes_.size(); ++i)
      moved += visit(other.lanes_[i], others_published_[i], {.least_pages = 2, .waits = false});
    if (moved > 0) break;  // its own lanes come first again
  }
  return moved;
}

std::uint32_t DrainThread::visit(Lane& lane, std::uint64_t published, const Visit& how) {
  // A torn or hostile counter is only a reason to look; the slot itself decides.
  const auto pending = [&] {
    return std::min<std::uint64_t>(published - lane.received.load(std::memory_order_relaxed),
                                   drainer_->plan_->layout.shape.ring_slots);
  };
  const bool owned = owns(lane.exchange.lane());
  if (pending() < how.least_pages && !(owned && lane.starving.load(std::memory_order_relaxed)))
    return 0;
  while (lane.held.exchange(true, std::memory_order_acquire)) {  // pairs with [lane left]
    if (!how.waits) return 0;
    ::sched_yield();
  }
  std::uint32_t moved = 0;
  // Another thread may have come first: then the count, read before, lies in the past.
  if (published > lane.exchange.received()) full_pages_ += pending();
  if (pending() > 0) moved = drain_lane(lane, pending());
  if (lane.starving.load(std::memory_order_relaxed)) refill(lane);
  lane.held.store(false, std::memory_order_release);  // [lane left]
  return moved;
}

std::uint32_t DrainThread::drain_lane(Lane& lane, std::uint64_t pending) {
  std::uint32_t moved = 0;
  if (!learn_plan(lane)) return 0;
  while (moved < pending && moved < kPagesPerVisit) {
    auto received = lane.exchange.receive(lane.plan);
    if (!received) break;
    ++moved;
    lane.received.store(lane.exchange.received(), std::memory_order_relaxed);
    check_owner(lane, *received);
    lane.exchange.prefetch_next();
    deliver(lane, *received);
    recycle(lane, *received);
    drained_pages.store(++stats_.pages, std::memory_order_relaxed);
    if (delivered_ns_ - told_ns_ > kTellAtLeastNs) tell_progress();
    inject_after_page();
  }
  if (moved > 0) {
    tell_progress();
    if (!lane.active.exchange(true, std::memory_order_relaxed))
      drainer_->active_lanes_.fetch_add(1, std::memory_order_relaxed);
    refill(lane);
  }
  return moved;
}

// Once per visit, unless pages take long: the word shares its line with those of the other threads.
void DrainThread::tell_progress() {
  told_ns_ = delivered_ns_;
  // alone: a figure that producers compare with the one they saw before
  drainer_->port_->store(offsetof(RegionHeader, host.drained_pages) + index_ * 8, stats_.pages);
}

// A lane that was opened at run time describes itself in the region; it is believed only if the
// registry knows such a lane.
bool DrainThread::learn_plan(Lane& lane) {
  if (lane.plan.stream != StreamId::kNone) return true;
  const LanePlan plan =
      read_lane_plan(*drainer_->port_, drainer_->plan_->layout, lane.exchange.lane());
  const bool circulates = plan.overflow == Overflow::kWait || plan.overflow == Overflow::kDrop;
  if (!circulates || plan.reserved_page_count != 0 ||
      !is_known_lane(plan, drainer_->plan_->layout.payload_bytes())) {
    stats_.faults.add(PageFault::kUnknownLane);
    return false;
  }
  lane.plan = plan;
  return true;
}

// A page that the lane does not hold is neither read nor given to anybody.
void DrainThread::check_owner(const Lane& lane, ReceivedPage& received) {
  if (received.page == kNoPageIndex) return;
  const auto owner = drainer_->pages_[received.page].owner.load(std::memory_order_relaxed);
  if (owner == lane.exchange.lane()) return;
  received.page = kNoPageIndex;
  received.fault = PageFault::kBadPageIndex;
}

void DrainThread::deliver(Lane& lane, const ReceivedPage& received) {
  if (received.fault != PageFault::kNone) {
    stats_.faults.add(received.fault);
    return;
  }
  LaneLedger& ledger = drainer_->ledgers_[lane.exchange.lane()];
  const PageHeaderImage& header = received.header;
  const bool says_nothing =
      header.used_bytes == 0 && header.dropped_before == 0 && header.stall_ticks == 0;
  bool kept = true;
  if (!says_nothing) {
    const std::uint64_t offset =
        drainer_->plan_->layout.page_offset(received.page) + kPageHeaderBytes;
    const std::uint64_t begin_ns = monotonic_ns();
    kept = drainer_->sink_->append({.header = header,
                                    .payload_bytes = header.used_bytes,
                                    .recovered = false,
                                    .payload = drainer_->port_->in_place(offset),
                                    .port = drainer_->port_,
                                    .payload_offset = offset});
    fault_point(FaultPoint::kDrain);
    // A device that writes a page after it has published it may have spoilt the copy.
    // pairs with [page emptied]
    if (drainer_->port_->load(offset - kPageHeaderBytes) != header.sequence)
      stats_.faults.add(PageFault::kChanging);
    delivered_ns_ = monotonic_ns();
    stats_.sink_ns += delivered_ns_ - begin_ns;
  }
  const std::uint64_t lost_before =
      ledger.counts().dropped_by[static_cast<std::size_t>(DropReason::kFileError)];
  ledger.add_page(header, kept ? PageFate::kDelivered : PageFate::kFileError, header.used_bytes);
  const std::uint64_t lost =
      ledger.counts().dropped_by[static_cast<std::size_t>(DropReason::kFileError)];
  if (lost != lost_before)  // alone: for a recovery, when this process is gone
    drainer_->port_->store(
        drainer_->plan_->layout.lane_offset(lane.exchange.lane()) + offsetof(LaneEntry, host),
        lost);
  drained_records.fetch_add(header.record_count, std::memory_order_relaxed);
}

void DrainThread::recycle(Lane& lane, const ReceivedPage& received) {
  if (received.page == kNoPageIndex) return;
  auto& [owner, marks] = drainer_->pages_[received.page];
  owner.store(kHostOwns, std::memory_order_relaxed);
  if (lane.plan.record_bytes == 0) marks |= kCarriedFrames;
  if (received.header.generation >= kGenerationMax || received.fault != PageFault::kNone)
    marks |= kWorn;
  const bool own_page = received.page >= drainer_->plan_->pool_page_count();
  const std::uint64_t held = lane.exchange.held();
  if (!hands_pages_) {
    if (!own_page) drainer_->pool_.give_back(received.page);
    return;
  }
  if (own_page || held == 0 || (held < fair_share() && !drainer_->pool_.anybody_starves())) {
    hand(lane, received.page);
  } else {
    drainer_->pool_.give_back(received.page);
  }
}

// By the host's own counts: a lane that holds nothing gets a page before anybody gets a second.
void DrainThread::refill(Lane& lane) {
  if (lane.plan.reserved_page_count > 0 || !hands_pages_) return;
  if (lane.exchange.held() == 0) {
    const PageIndex page =
        drainer_->pool_.take_for_starving(lane.starving.load(std::memory_order_relaxed));
    lane.starving.store(page == kNoPageIndex, std::memory_order_relaxed);
    if (page == kNoPageIndex) return;
    hand(lane, page);
  }
  while (lane.exchange.held() < fair_share()) {
    const PageIndex page = drainer_->pool_.take_extra();
    if (page == kNoPageIndex) return;
    hand(lane, page);
  }
}

void DrainThread::hand(Lane& lane, PageIndex page) {
  auto& [owner, marks] = drainer_->pages_[page];
  const bool records = lane.plan.record_bytes != 0 || lane.plan.stream == StreamId::kNone;
  if ((marks & kWorn) != 0 || (records && (marks & kCarriedFrames) != 0)) {
    const RegionLayout& layout = drainer_->plan_->layout;
    drainer_->port_->zero(layout.page_offset(page), layout.shape.page_bytes);
    marks = 0;
  }
  owner.store(lane.exchange.lane(), std::memory_order_relaxed);
  lane.exchange.hand(page);
}

// Busy lanes share the pool evenly; one alone leaves half of it for the next.
std::uint64_t DrainThread::fair_share() const {
  const std::uint64_t pool_pages = drainer_->pool_.page_count();
  const std::uint64_t active =
      std::max(1u, drainer_->active_lanes_.load(std::memory_order_relaxed));
  const std::uint64_t most =
      drainer_->plan_->lanes.size() > 1 ? std::max<std::uint64_t>(1, pool_pages / 2) : pool_pages;
  const std::uint64_t slots = drainer_->plan_->layout.shape.ring_slots;
  return std::clamp<std::uint64_t>(pool_pages / active, 1, std::min(most, slots));
}

void DrainThread::count_active() {
  for (auto& lane : lanes_) {
    if (pass_count_ - lane.last_active_pass < kActiveWindow * 4) continue;
    if (lane.active.exchange(false, std::memory_order_relaxed))
      drainer_->active_lanes_.fetch_sub(1, std::memory_order_relaxed);
  }
}

void DrainThread::inject_after_page() {
  const DrainInjection& inject = drainer_->inject_;
  if (inject.slow_us > 0) sleep_ns(inject.slow_us * 1000ull);
  if (injected_) return;
  injected_ = true;
  std::unique_lock lock(mutex_);
  if (inject.stop) wake_.wait(lock, [this] { return finishing_; });
  if (inject.pause_ms > 0)
    wake_.wait_for(lock, std::chrono::milliseconds(inject.pause_ms), [this] { return finishing_; });
}

}  // namespace tidemark
