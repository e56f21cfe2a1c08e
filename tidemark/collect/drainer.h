// SPDX-License-Identifier: Apache-2.0
// The drainer: 1..N threads that receive full pages of all lanes, put them into the sink and give
// them back. One drainer serves every stream; a lane belongs to exactly one of its threads, and an
// idle thread helps a busy one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tidemark/collect/page_pool.h"
#include "tidemark/collect/region_port.h"
#include "tidemark/device/region_plan.h"
#include "tidemark/ledger/ledger.h"
#include "tidemark/ledger/page_check.h"
#include "tidemark/ledger/page_sink.h"

namespace tidemark {

// Faults that tests ask for by name (--inject).
struct DrainInjection {
  std::uint32_t pause_ms = 0;  // once, after the first page
  std::uint32_t slow_us = 0;   // after every page
  bool stop = false;           // after the first page, until the device has ended
};

struct DrainStats {
  std::uint64_t pages = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t busy_ns = 0;  // passes that moved at least one page
  std::uint64_t sink_ns = 0;  // of busy_ns, inside the sink
  std::uint64_t max_full_pages = 0;
  std::uint32_t min_free_pages = 0;
  FaultCounts faults;
};

class DrainThread;

// The owner of a page that no lane holds.
inline constexpr LaneIndex kHostOwns = ~LaneIndex{0};

class Drainer {
 public:
  // The arguments must outlive the drainer. Hands every lane its first page before it returns.
  Drainer(RegionPort* port, const RegionPlan* plan, PageSink* sink, DrainInjection inject = {});
  ~Drainer();

  void start();
  // The device has ended or is to be given up: takes everything that is published, then stops.
  void finish();

  // Without started threads: takes everything that is published, in parallel if there are several
  // drain threads, and returns. For benches and tests that are their own scheduler.
  void drain_now();
  DrainThread& thread(std::uint32_t index) { return *threads_[index]; }
  [[nodiscard]] std::uint64_t held_pages(LaneIndex lane) const;
  [[nodiscard]] std::uint32_t free_pages() const { return pool_.free_count(); }

  // After finish.
  [[nodiscard]] DrainStats stats() const;
  [[nodiscard]] std::vector<LaneLedger>& ledgers() { return ledgers_; }

  // Live figures, from any thread.
  [[nodiscard]] std::uint64_t drained_pages() const;
  [[nodiscard]] std::uint64_t drained_records() const;

 private:
  friend class DrainThread;

  RegionPort* port_;
  const RegionPlan* plan_;
  PageSink* sink_;
  DrainInjection inject_;
  PagePool pool_;
  // Of each page: the lane it was handed to, and what must happen before it is handed again.
  // Touched only by the thread that visits the lane that holds the page; the pool's lock passes it
  // on. A line each: neighbours belong to lanes of different threads.
  struct alignas(64) PageState {
    std::atomic<LaneIndex> owner{kHostOwns};
    std::uint8_t marks = 0;
  };
  std::vector<PageState> pages_;
  std::atomic<std::uint32_t> active_lanes_{0};
  std::vector<LaneLedger> ledgers_;
  std::vector<std::unique_ptr<DrainThread>> threads_;
};

}  // namespace tidemark
