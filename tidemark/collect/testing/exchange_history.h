// SPDX-License-Identifier: Apache-2.0
// Test support: one history of the page exchange in one thread, under one seed. Producers stop
// before every store; there the history lets the host run, lets another producer write, raises a
// fault, or ends the device. Afterwards it reads what is left and judges the whole.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tidemark/collect/drainer.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/collect/testing/keeping_sink.h"
#include "tidemark/collect/testing/planned_region.h"
#include "tidemark/collect/testing/stepped_producer.h"

namespace tidemark {

struct HistoryPlan {
  std::uint64_t seed = 0;
  Overflow overflow = Overflow::kWait;
  bool framed = false;
  std::uint32_t lanes = 2;
  std::uint32_t extra_pages = 1;  // of the pool, beyond one per lane
  std::uint32_t operations = 100;
  std::uint64_t kill_at = ~std::uint64_t{0};  // the store that never happens
  // In 1024 stops: how often the host looks, and how often another lane writes.
  std::uint32_t host_share = 64;
  std::uint32_t other_share = 16;
  bool faults = false;         // abort, a dead host or a stopped drainer at some stop
  bool host_dies_too = false;  // what is found is found by a recovery, not by the drainer
};

class ExchangeHistory {
 public:
  explicit ExchangeHistory(const HistoryPlan& plan);
  ~ExchangeHistory();

  // Runs to the end or to the kill; empty, or what is wrong.
  std::string run();

  [[nodiscard]] std::uint64_t stops() const { return stops_; }
  [[nodiscard]] bool killed() const { return killed_; }
  [[nodiscard]] const LaneCounts& total() const { return total_; }

 private:
  struct Lane {
    std::unique_ptr<stepped::Producer> producer;
    bool busy = false;      // a call of its producer is on the stack
    bool finished = false;  // its producer leaves or has left
    std::uint64_t attempts = 0;
    std::vector<std::uint64_t> accepted;
  };
  struct Killed {};

  void operate(LaneIndex lane);
  void write_one(Lane& lane);
  void stop(stepped::Stop why);
  void run_host();
  void close_lanes();
  std::uint64_t roll(std::uint64_t bound) { return random_() % bound; }

  void read_what_is_left();
  std::string judge();
  std::string judge_lane(LaneIndex index);
  std::string judge_pages();

  HistoryPlan history_;
  std::mt19937_64 random_;
  PlannedRegion region_;
  KeepingSink sink_;
  std::unique_ptr<Drainer> drainer_;
  std::vector<Lane> lanes_;
  std::uint64_t stops_ = 0;
  std::uint64_t fault_at_ = ~std::uint64_t{0};
  bool host_stopped_ = false;
  bool host_runs_ = false;
  bool killed_ = false;

  std::vector<LaneLedger> ledgers_;
  std::vector<std::uint64_t> received_;  // pages of each lane, before the leftovers
  Leftovers leftovers_;
  LaneCounts total_;
};

}  // namespace tidemark
