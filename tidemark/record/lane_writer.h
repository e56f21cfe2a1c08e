// SPDX-License-Identifier: Apache-2.0
// The device side of a lane: which page is open, where the next bytes go, and what happens when
// the page is full. Recorder and FrameWriter put content on top of it. The hot members are three:
// cursor, end and stamp; everything else is touched once per page.
#pragma once

#include <cstdint>

#include "tidemark/base/fault_point.h"
#include "tidemark/record/at_speaker.h"
#include "tidemark/record/lane_check.h"
#include "tidemark/record/recorder_costs.h"
#include "tidemark/schema/stamp.h"
#include "tidemark/transport/region.h"

namespace tidemark {

struct AcceptedWrite {
  LaneIndex lane;
  std::uint64_t number;
  const unsigned char* record;  // as stored; null: a frame
  std::uint64_t bytes;
};

template <DeviceEnv Env>
class LaneWriter {
 public:
  LaneWriter() = default;  // disabled: every write is refused by one branch, nothing is counted

  // The lane must be described in the region with records of this size (0: framed) and held by
  // nobody else.
  TM_DEVICE LaneWriter(const RegionView* region, LaneIndex lane, std::uint32_t record_bytes)
      : region_(region),
        lane_(lane),
        free_ring_(region->free_ring(lane)),
        full_ring_(region->full_ring(lane)) {
    expect_of_lane<Env>(*region, lane < region->layout().shape.max_lanes, "no such lane");
    const LanePlan& plan = region->lane(lane).plan;
    expect_of_lane<Env>(*region, plan.record_bytes == record_bytes, "a lane of other records");
    record_bytes_ = record_bytes;
    overflow_ = plan.overflow;
    reserved_first_page_ = plan.reserved_first_page;
    reserved_page_count_ = plan.reserved_page_count;
    const RegionIdentity& identity = region->header().identity;
    run_id_ = identity.run_id;
    drain_timeout_ticks_ = identity.drain_timeout_ticks;
    drain_threads_ = identity.drain_threads;
    resume();
    leave_page();
  }

  TM_DEVICE TM_INLINE bool enabled() const { return cursor_ != nullptr; }
  // Where the unit shows its watchdogs that it waits for the recorder.
  TM_DEVICE void tell_waits_to(RecorderCosts* costs) { costs_ = costs; }
  TM_DEVICE const LanePlan& plan() const { return region_->lane(lane_).plan; }
  TM_DEVICE const RegionView& region() const { return *region_; }
  // Numbers given so far, accepted or not.
  TM_DEVICE std::uint64_t attempted() const { return next_number_ + count_in_page(); }

  // What the producer does, or waits for, and which one of them (a round, a tile; below 2^47), for
  // whoever asks why it does not go on: `tidemark hang`, `tidemark top`. One store.
  TM_DEVICE TM_INLINE void at(const Name& name, std::uint64_t number = 0) {
    at_.say(region_, name, number, false);
  }
  TM_DEVICE TM_INLINE void waits_for(const Name& name, std::uint64_t number = 0) {
    at_.say(region_, name, number, true);
  }

  // Hands over what is in the page, full or not. The next write asks for another page.
  TM_DEVICE void flush() {
    if (!enabled() || page_ == kNoPageIndex || cursor_ == begin_) return;
    publish();
  }

  // Flushes and leaves the lane. Later writes are refused.
  TM_DEVICE void close() {
    if (!enabled()) return;
    reach(FaultPoint::kFlush);
    if (page_ != kNoPageIndex) publish();
    words().attempted.store_relaxed(next_number_);
    words().state.store_release(LaneState::kClosed);  // [lane closed]
    cursor_ = end_ = nullptr;
    at_.end();
  }

 protected:
  TM_DEVICE static void reach([[maybe_unused]] FaultPoint point) {
    if constexpr (requires { Env::fault_point(point); }) Env::fault_point(point);
  }
  TM_DEVICE TM_INLINE bool accept([[maybe_unused]] std::uint64_t frame_bytes = 0) {
    if constexpr (requires { Env::accepted(AcceptedWrite{}); })
      Env::accepted({.lane = lane_,
                     .number = attempted() - 1,
                     .record = record_bytes_ == 0 ? nullptr : cursor_ - record_bytes_,
                     .bytes = record_bytes_ == 0 ? frame_bytes : record_bytes_});
    return true;
  }

  TM_DEVICE LaneWords& words() const { return region_->lane(lane_).words; }
  TM_DEVICE PageHeader& page_header() const { return region_->page(page_); }
  TM_DEVICE std::uint64_t next_number() const { return next_number_; }

  // Publishes the open page and opens the next one. False: the attempt is refused and counted.
  TM_DEVICE TM_NOINLINE bool turn_page() {
    reach(FaultPoint::kPageSwitch);
    if (page_ != kNoPageIndex) publish();
    DropReason why = DropReason::kNoPage;
    const PageIndex page = next_page(why);
    if (page == kNoPageIndex) {
      refuse(why);
      return false;
    }
    open_page(page);
    return true;
  }

  // While the page is written by somebody who keeps the cursor to itself, its age does not count.
  TM_DEVICE void leave_age() { turn_at_ticks_ = ~std::uint64_t{0}; }
  TM_DEVICE void watch_age() {
    turn_at_ticks_ = page_ == kNoPageIndex ? ~std::uint64_t{0} : open_ticks_ + kPageAgeTicks;
  }
  TM_DEVICE TM_INLINE bool is_too_old(std::uint64_t now_ticks) const {
    return now_ticks >= turn_at_ticks_;
  }

  unsigned char* cursor_ = nullptr;  // null: disabled; equal to end_: full, or no page at all
  unsigned char* end_ = nullptr;
  std::uint64_t stamp_high_ = 0;  // the generation, where the high word of a quantum has it
  unsigned char* begin_ = nullptr;
  std::uint32_t record_bytes_ = 0;
  std::uint32_t generation_ = 0;
  std::uint64_t frames_ended_ = 0;  // in this page, on a framed lane

 private:
  // A lane that was closed before goes on where it stopped, in a new epoch. What it lost after its
  // last page is placed before its next one.
  TM_DEVICE void resume() {
    LaneWords& words = this->words();
    next_number_ = words.attempted.load_own();
    opened_pages_ = words.opened_pages.load_own();
    acquired_ = words.acquired_count.load_own();
    published_ = region_->published_word(lane_).load_own();
    dropped_total_ = words.dropped_total.load_own();
    stall_total_ = words.stall_ticks.load_own();
    gap_dropped_ = words.tail_dropped.load_own();
    gap_begin_ticks_ = words.tail_gap_begin_ticks.load_own();
    gap_end_ticks_ = words.tail_gap_end_ticks.load_own();
    gap_reason_ = static_cast<DropReason>(words.tail_gap_reason.load_own());
    epoch_ = words.epoch.load_own() + 1;
    words.epoch.store_relaxed(epoch_);
    words.open_page_index.store_relaxed(~std::uint64_t{0});
    at_.begin(&region_->lane(lane_).at);
    words.state.store_release(LaneState::kOpen);  // [lane opened]
  }

  // With no page the cursor is at its end, which is not null.
  TM_DEVICE void leave_page() {
    page_ = kNoPageIndex;
    frames_ended_ = 0;
    leave_age();
    begin_ = cursor_ = end_ = reinterpret_cast<unsigned char*>(&region_->header());
  }

  TM_DEVICE std::uint64_t count_in_page() const {
    if (page_ == kNoPageIndex) return 0;
    return record_bytes_ == 0 ? frames_ended_
                              : static_cast<std::uint64_t>(cursor_ - begin_) / record_bytes_;
  }

  TM_DEVICE void publish() {
    PageHeader& header = page_header();
    const std::uint64_t count = count_in_page();
    header.close_ticks.store_relaxed(Env::now_ticks());
    header.used_bytes.store_relaxed(static_cast<std::uint32_t>(cursor_ - begin_));
    header.record_count.store_release(count);  // [page sealed]
    next_number_ += count;
    words().attempted.store_relaxed(next_number_);
    words().open_page_index.store_relaxed(~std::uint64_t{0});
    reach(FaultPoint::kPublish);
    if (overflow_ != Overflow::kKeepLast) {
      full_ring_.send(published_, page_);
      ++published_;
      region_->published_word(lane_).store_after_fence(published_);  // [page published]
    }
    leave_page();
  }

  TM_DEVICE PageIndex next_page(DropReason& why) {
    if (overflow_ == Overflow::kKeepLast)
      return reserved_first_page_ + static_cast<PageIndex>(opened_pages_ % reserved_page_count_);
    const PageIndex page = try_acquire();
    if (page != kNoPageIndex || overflow_ == Overflow::kDrop) return page;
    return wait_for_page(why);
  }

  TM_DEVICE PageIndex try_acquire() {
    const PageIndex page = free_ring_.receive(acquired_);
    if (page >= region_->layout().shape.page_count) return kNoPageIndex;
    ++acquired_;
    words().acquired_count.store_relaxed(acquired_);
    return page;
  }

  // Bounded by the abort word, the host_gone word and the drain timeout: slow is not stopped, but
  // a drainer that returns nothing to anybody for that long is.
  TM_DEVICE PageIndex wait_for_page(DropReason& why) {
    if (stopped_) {  // abort and death of the host are final: no attempt waits for them again
      why = stop_reason_;
      return kNoPageIndex;
    }
    if (gave_up_ && drained_pages() == gave_up_at_) return kNoPageIndex;
    gave_up_ = false;
    const std::uint64_t begin_ticks = Env::now_ticks();
    Patience patience{.looked_ticks = begin_ticks};
    words().waiting.store_relaxed(1);
    if (costs_ != nullptr) costs_->wait_begins(begin_ticks);
    PageIndex page = try_acquire();
    // Where the ring is near, the lane looks at it often and over the link just as seldom.
    const bool near = region_->rings_are_near();
    const std::uint32_t look_every = near ? kLookEvery * 64 : kLookEvery;
    for (std::uint32_t round = 0; page == kNoPageIndex; ++round) {
      if (round % look_every == look_every - 1 && must_stop_waiting(patience, why)) break;
      Env::pause(near ? 0 : round);
      page = try_acquire();
    }
    const std::uint64_t waited_ticks = ticks_since(begin_ticks, Env::now_ticks());
    stall_pending_ += waited_ticks;
    stall_total_ += waited_ticks;
    words().stall_ticks.store_relaxed(stall_total_);
    words().waiting.store_relaxed(0);
    if (costs_ != nullptr) costs_->wait_ended(waited_ticks);
    return page;
  }

  struct Patience {
    std::uint64_t looked_ticks;
    std::uint64_t waited_ticks = 0;  // since the drainer was last seen to have moved
    std::uint64_t drained = ~std::uint64_t{0};
  };

  // A clock that ran backwards has measured nothing.
  TM_DEVICE static std::uint64_t ticks_since(std::uint64_t then_ticks, std::uint64_t now_ticks) {
    return now_ticks > then_ticks ? now_ticks - then_ticks : 0;
  }

  TM_DEVICE bool must_stop_waiting(Patience& patience, DropReason& why) {
    const RegionHeader& header = region_->header();
    const bool aborted = header.host.abort.load_acquire() != 0;  // pairs with [run aborted]
    // pairs with [host gone]
    if (aborted || header.device.host_gone.load_acquire() != 0) {
      stopped_ = true;
      why = stop_reason_ = aborted ? DropReason::kAborted : DropReason::kHostGone;
      return true;
    }
    const std::uint64_t now_ticks = Env::now_ticks();
    const std::uint64_t drained = drained_pages();
    if (drained != patience.drained) {
      patience = {.looked_ticks = now_ticks, .drained = drained};
      return false;
    }
    // A machine that was paused brings a long time between two looks. The drainer did not run for
    // no better reason than the lane, so one look is worth a small part of the patience at most.
    const std::uint64_t since_ticks = ticks_since(patience.looked_ticks, now_ticks);
    const std::uint64_t most_ticks = drain_timeout_ticks_ / kPatienceLooks + 1;
    patience.looked_ticks = now_ticks;
    patience.waited_ticks += since_ticks < most_ticks ? since_ticks : most_ticks;
    gave_up_ = patience.waited_ticks >= drain_timeout_ticks_;
    gave_up_at_ = drained;
    return gave_up_;
  }

  TM_DEVICE std::uint64_t drained_pages() const {
    const RegionHeader& header = region_->header();
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < drain_threads_; ++i)
      sum += header.host.drained_pages[i].load_relaxed();
    return sum;
  }

  // Numbers the attempt and counts it. Stored by reason first: a kill between the stores leaves
  // the reasons at most one ahead of the total.
  TM_DEVICE void refuse(DropReason why) {
    LaneWords& words = this->words();
    const std::uint64_t now_ticks = Env::now_ticks();
    auto& by_reason = words.dropped_by[static_cast<std::uint32_t>(why)];
    by_reason.store_relaxed(by_reason.load_own() + 1);
    if (gap_dropped_++ == 0) {
      gap_begin_ticks_ = now_ticks;
      words.tail_gap_begin_ticks.store_relaxed(now_ticks);
    }
    gap_end_ticks_ = now_ticks;
    gap_reason_ = why;
    words.tail_gap_end_ticks.store_relaxed(now_ticks);
    words.tail_gap_reason.store_relaxed(static_cast<std::uint32_t>(why));
    words.tail_dropped.store_relaxed(gap_dropped_);
    words.dropped_total.store_relaxed(++dropped_total_);
    words.attempted.store_release(++next_number_);  // [refusal counted]
  }

  TM_DEVICE void open_page(PageIndex page) {
    page_ = page;
    PageHeader& header = page_header();
    begin_ = cursor_ = region_->payload(page);
    const std::uint32_t payload_bytes = region_->layout().payload_bytes();
    end_ = begin_ +
           (record_bytes_ == 0 ? payload_bytes : payload_bytes / record_bytes_ * record_bytes_);
    const std::uint32_t last_generation = header.generation.load_own();
    const std::uint32_t last_record_bytes = header.record_bytes.load_own();
    generation_ = last_generation + 1;
    header.sequence.store_relaxed(0);
    order_page_stores();  // nobody sees the new header under the old sequence
    const bool held_frames = last_generation != 0 && last_record_bytes == 0 && record_bytes_ != 0;
    if (held_frames || generation_ > kGenerationMax) clear_stamps();
    stamp_high_ = std::uint64_t{generation_} << 48;
    // [page emptied]: whoever sees one of these also sees the sequence 0, or a later one
    header.run_id.store_after_fence(run_id_);
    header.lane.store_after_fence(lane_);
    header.epoch.store_after_fence(epoch_);
    header.generation.store_after_fence(generation_);
    header.record_bytes.store_after_fence(record_bytes_);
    header.first_number.store_after_fence(next_number_);
    header.record_count.store_after_fence(kPageOpen);
    header.used_bytes.store_after_fence(0);
    open_ticks_ = Env::now_ticks();
    // [page emptied] for these, too
    header.open_ticks.store_after_fence(open_ticks_);
    header.close_ticks.store_after_fence(0);
    header.dropped_before.store_after_fence(gap_dropped_);
    header.gap_begin_ticks.store_after_fence(gap_dropped_ == 0 ? 0 : gap_begin_ticks_);
    header.gap_end_ticks.store_after_fence(gap_dropped_ == 0 ? 0 : gap_end_ticks_);
    header.gap_reason.store_after_fence(static_cast<std::uint32_t>(gap_reason_));
    header.stall_ticks.store_after_fence(stall_pending_);
    header.first_frame_offset.store_after_fence(kNoFrame);
    header.dropped_total.store_after_fence(dropped_total_);
    header.sequence.store_release(++opened_pages_);  // [page reopened]
    words().opened_pages.store_relaxed(opened_pages_);
    words().open_page_index.store_after_fence(page);  // [open page named]
    if (gap_dropped_ != 0) words().tail_dropped.store_relaxed(0);
    if (costs_ != nullptr) costs_->page_opened();
    gap_dropped_ = stall_pending_ = 0;
    frames_ended_ = 0;
    watch_age();
  }

  // What is in the page could look like stamps: those of an earlier generation 1, or bytes
  // of frames. A host that reaches the page zeroes it before it comes to this; a keep-last lane and
  // a page in a device's own memory have only the producer.
  TM_DEVICE void clear_stamps() {
    auto* quanta = reinterpret_cast<SharedQuantum*>(begin_);
    const std::uint32_t count = region_->layout().payload_bytes() / kQuantumBytes;
    for (std::uint32_t i = 0; i < count; ++i) quanta[i].store(0, 0);
    if (generation_ > kGenerationMax) generation_ = 1;
  }

  // Readers restore a time from the one before it; this is a quarter of what 48 bits can express.
  static constexpr std::uint64_t kPageAgeTicks = std::uint64_t{1} << 46;
  static constexpr std::uint64_t kPatienceLooks = 16;
  static constexpr std::uint32_t kLookEvery = [] {
    if constexpr (requires { Env::kLookEvery; }) {
      return Env::kLookEvery;
    } else {
      return 1u;
    }
  }();

  const RegionView* region_ = nullptr;
  AtSpeaker<Env> at_;
  RecorderCosts* costs_ = nullptr;
  std::uint64_t run_id_ = 0;
  std::uint64_t drain_timeout_ticks_ = 0;
  std::uint32_t drain_threads_ = 0;
  LaneIndex lane_ = 0;
  PageIndex page_ = kNoPageIndex;
  Overflow overflow_ = Overflow::kWait;
  DropReason gap_reason_ = DropReason::kNoPage;
  DropReason stop_reason_ = DropReason::kAborted;
  bool stopped_ = false;
  bool gave_up_ = false;
  PageIndex reserved_first_page_ = kNoPageIndex;
  std::uint32_t reserved_page_count_ = 0;
  std::uint32_t epoch_ = 0;
  PageRing free_ring_;
  PageRing full_ring_;
  std::uint64_t next_number_ = 0;  // of the first attempt after the pages published so far
  std::uint64_t opened_pages_ = 0;
  std::uint64_t acquired_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t gap_dropped_ = 0;
  std::uint64_t gap_begin_ticks_ = 0;
  std::uint64_t gap_end_ticks_ = 0;
  std::uint64_t dropped_total_ = 0;
  std::uint64_t stall_pending_ = 0;
  std::uint64_t stall_total_ = 0;
  std::uint64_t gave_up_at_ = 0;
  std::uint64_t open_ticks_ = 0;                     // of the open page
  std::uint64_t turn_at_ticks_ = ~std::uint64_t{0};  // when it is too old; ~0: never
};

}  // namespace tidemark
