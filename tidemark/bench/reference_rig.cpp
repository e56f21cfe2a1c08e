// SPDX-License-Identifier: Apache-2.0
#include "tidemark/bench/reference_rig.h"

#include <sched.h>

#include <atomic>
#include <deque>
#include <thread>

#include "tidemark/base/mapped_memory.h"
#include "tidemark/bench/bench_sink.h"
#include "tidemark/bench/reference_exchange.h"
#include "tidemark/bench/rounds.h"
#include "tidemark/bench/thread_places.h"
#include "tidemark/device/sim/sim_env.h"
#include "workloads/record_widths.h"

namespace tidemark::bench {
namespace {

constexpr std::uint32_t kBurstPages = 8;
constexpr std::uint32_t kBursts = 150;

void produce(reference::Exchange& exchange, std::uint32_t record_bytes, std::uint64_t number,
             std::uint64_t count) {
  with_record_bytes(record_bytes, [&](auto bytes) { exchange.produce<bytes()>(number, count); });
}

// The lanes of a bench and the threads that drain them.
class Rig {
 public:
  Rig(const BenchOptions& options, std::uint32_t page_count, PageSink* sink)
      : options_(options),
        pages_(page_count / options.lanes),
        memory_(map_memory_file("tidemark-reference", std::uint64_t{pages_} * options.lanes *
                                                          options.recorder.page_bytes)),
        sink_(sink) {
    for (std::uint32_t lane = 0; lane < options.lanes; ++lane)
      lanes_.emplace_back(memory_.data() + std::size_t{lane} * pages_ * options.recorder.page_bytes,
                          pages_, options.recorder.page_bytes);
  }

  void start_draining() {
    const ThreadPlace place = ThreadPlace::drainers(options_);
    for (std::uint32_t thread = 0; thread < options_.recorder.drain_threads; ++thread)
      drainers_.emplace_back([this, thread] { drain(thread); });
  }
  void finish_draining() {
    done_.store(true, std::memory_order_release);
    for (auto& drainer : drainers_) drainer.join();
    drainers_.clear();
  }

  [[nodiscard]] reference::Exchange& lane(std::uint32_t lane) { return lanes_[lane]; }
  [[nodiscard]] std::uint32_t pages() const { return pages_; }
  [[nodiscard]] std::uint64_t drained() const { return drained_.load(std::memory_order_acquire); }

 private:
  void drain(std::uint32_t thread) {
    for (int idle = 0;;) {
      const bool last_look = done_.load(std::memory_order_acquire);
      bool moved = false;
      for (std::uint32_t lane = thread; lane < lanes_.size();
           lane += options_.recorder.drain_threads)
        while (lanes_[lane].drain_one(&reference_sink, sink_)) {
          moved = true;
          drained_.fetch_add(1, std::memory_order_release);
        }
      if (!moved && last_look) return;
      idle = moved ? 0 : idle + 1;
      if (idle > 64) ::sched_yield();
    }
  }

  BenchOptions options_;
  std::uint32_t pages_;
  MappedMemory memory_;
  PageSink* sink_;
  std::deque<reference::Exchange> lanes_;
  std::vector<std::thread> drainers_;
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> drained_{0};
};

}  // namespace

double reference_end_to_end(const BenchOptions& options, std::uint32_t page_count,
                            std::uint64_t records, PageSink* sink) {
  Rig rig(options, page_count, sink);
  std::atomic<bool> go{false};
  std::vector<std::thread> producers;
  for (std::uint32_t lane = 0; lane < options.lanes; ++lane)
    producers.emplace_back([&, lane] {
      const ThreadPlace place = ThreadPlace::producer(options, lane);
      while (!go.load(std::memory_order_acquire)) ::sched_yield();
      produce(rig.lane(lane), options.record_bytes, 0, records);
      rig.lane(lane).flush();
    });
  rig.start_draining();
  const std::uint64_t begin_ns = monotonic_ns();
  go.store(true, std::memory_order_release);
  for (auto& producer : producers) producer.join();
  rig.finish_draining();
  return static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
}

double reference_ns_per_record(const BenchOptions& options, std::uint32_t page_count,
                               double ticks_per_ns, PageSink* sink) {
  BenchOptions one_lane = options;
  one_lane.lanes = 1;
  Rig rig(one_lane, page_count, sink);
  rig.start_draining();
  const ThreadPlace place = ThreadPlace::producer(one_lane, 0);
  const std::uint64_t per_page = options.recorder.page_bytes / options.record_bytes;
  const std::uint64_t pages = std::min<std::uint64_t>(kBurstPages, rig.pages() / 2);
  std::vector<double> costs;
  std::uint64_t number = 0;
  for (std::uint32_t burst = 0; burst < kBursts; ++burst) {
    while (rig.drained() + 1 < number / per_page) ::sched_yield();
    const std::uint64_t begin_ticks = SimEnv::now_ticks();
    produce(rig.lane(0), options.record_bytes, number, pages * per_page);
    const auto ticks = static_cast<double>(SimEnv::now_ticks() - begin_ticks);
    number += pages * per_page;
    if (burst >= kBursts / 4) costs.push_back(ticks / static_cast<double>(pages * per_page));
  }
  rig.lane(0).flush();
  rig.finish_draining();
  return median(costs) / ticks_per_ns;
}

}  // namespace tidemark::bench
