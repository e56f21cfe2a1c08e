// SPDX-License-Identifier: Apache-2.0
// One thread of the drainer and the lanes that belong to it. A thread whose own lanes have nothing
// helps where several pages wait; whoever visits a lane holds it, so its pages stay in order.
#pragma once

#include <deque>

#include "tidemark/collect/drainer.h"
#include "tidemark/collect/lane_exchange.h"

namespace tidemark {

class DrainThread {
 public:
  struct LaneRange {
    LaneIndex first = 0;
    LaneIndex last = 0;  // one past
  };

  DrainThread(Drainer* drainer, std::uint32_t index, LaneRange range);

  void start();
  void begin_finish();
  void end_finish();

  // One look at every lane of its own: receives, delivers, refills. Returns the pages moved. Public
  // for the seeded interleaving test, which is its own scheduler.
  std::uint32_t pass();
  // One look at the lanes of the other threads.
  std::uint32_t help();
  void hand_first_pages();
  void hand_early_pages();  // after every thread has handed the first ones

  [[nodiscard]] bool owns(LaneIndex lane) const {
    return lane >= range_.first && lane < range_.last;
  }
  [[nodiscard]] std::uint64_t held_pages(LaneIndex lane) const {
    return lanes_[lane - range_.first].exchange.held();
  }
  [[nodiscard]] const DrainStats& stats() const { return stats_; }
  std::atomic<std::uint64_t> drained_pages{0};
  std::atomic<std::uint64_t> drained_records{0};

 private:
  struct alignas(64) Lane {
    Lane(LaneExchange lane_exchange, const LanePlan& lane_plan)
        : exchange(lane_exchange), plan(lane_plan) {}

    std::atomic<bool> held{false};  // by the visiting thread, which owns exchange and plan
    LaneExchange exchange;
    LanePlan plan;
    std::atomic<std::uint64_t> received{0};  // of exchange, to look at without visiting
    std::atomic<bool> starving{false};       // as the pool counts it
    std::atomic<bool> active{false};         // published something lately
    std::uint64_t seen_received = 0;         // the owner's: when it last looked
    std::uint64_t last_active_pass = 0;      // the owner's
  };

  // How a lane is visited: from how many waiting pages on, and whether to wait for the thread that
  // holds it.
  struct Visit {
    std::uint64_t least_pages = 1;
    bool waits = false;
  };

  void run();
  void idle_wait(std::uint32_t idle_passes);
  std::uint32_t visit(Lane& lane, std::uint64_t published, const Visit& how);
  std::uint32_t drain_lane(Lane& lane, std::uint64_t pending);
  void check_owner(const Lane& lane, ReceivedPage& received);
  void deliver(Lane& lane, const ReceivedPage& received);
  void recycle(Lane& lane, const ReceivedPage& received);
  void refill(Lane& lane);
  void hand(Lane& lane, PageIndex page);
  [[nodiscard]] std::uint64_t fair_share() const;
  void count_active();
  bool learn_plan(Lane& lane);
  void tell_progress();
  [[nodiscard]] bool finishing();
  void inject_after_page();

  Drainer* drainer_;
  std::uint32_t index_;
  LaneRange range_;
  std::deque<Lane> lanes_;
  std::vector<std::uint64_t> published_;
  std::vector<std::uint64_t> others_published_;
  std::uint64_t pass_count_ = 0;
  std::uint64_t full_pages_ = 0;  // found in this pass
  DrainStats stats_;
  std::uint64_t delivered_ns_ = 0;  // when the last page was in the sink
  std::uint64_t told_ns_ = 0;       // when the producers last saw progress
  std::uint64_t alive_ns_ = 0;      // when this host last said that it is alive
  bool injected_ = false;
  bool hands_pages_ = true;  // not once it finishes: a producer without end must not keep it busy

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool finishing_ = false;
};

}  // namespace tidemark
