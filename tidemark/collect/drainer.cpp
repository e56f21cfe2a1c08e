// SPDX-License-Identifier: Apache-2.0
#include "tidemark/collect/drainer.h"

#include "tidemark/collect/drain_thread.h"

namespace tidemark {

Drainer::Drainer(RegionPort* port, const RegionPlan* plan, PageSink* sink, DrainInjection inject)
    : port_(port),
      plan_(plan),
      sink_(sink),
      inject_(inject),
      pool_(plan->pool_page_count()),
      pages_(plan->layout.shape.page_count) {
  for (const auto& lane : plan->lanes) ledgers_.emplace_back(lane.overflow);
  const auto lane_count = static_cast<std::uint64_t>(plan->lanes.size());
  const std::uint32_t thread_count = plan->identity.drain_threads;
  for (std::uint32_t i = 0; i < thread_count; ++i) {
    const DrainThread::LaneRange range{
        .first = static_cast<LaneIndex>(lane_count * i / thread_count),
        .last = static_cast<LaneIndex>(lane_count * (i + 1) / thread_count)};
    threads_.push_back(std::make_unique<DrainThread>(this, i, range));
  }
  for (auto& thread : threads_) thread->hand_first_pages();
  for (auto& thread : threads_) thread->hand_early_pages();
}

Drainer::~Drainer() { finish(); }

void Drainer::start() {
  for (auto& thread : threads_) thread->start();
}

void Drainer::finish() {
  for (auto& thread : threads_) thread->begin_finish();
  for (auto& thread : threads_) thread->end_finish();
}

void Drainer::drain_now() {
  std::vector<std::thread> others;
  const auto drain = [](DrainThread& thread) {
    while (thread.pass() > 0) {
    }
  };
  for (std::size_t i = 1; i < threads_.size(); ++i)
    others.emplace_back([&, i] { drain(*threads_[i]); });
  drain(*threads_[0]);
  for (auto& thread : others) thread.join();
}

std::uint64_t Drainer::held_pages(LaneIndex lane) const {
  for (const auto& thread : threads_)
    if (thread->owns(lane)) return thread->held_pages(lane);
  return 0;
}

DrainStats Drainer::stats() const {
  DrainStats sum;
  for (const auto& thread : threads_) {
    const DrainStats& part = thread->stats();
    sum.pages += part.pages;
    sum.cpu_ns += part.cpu_ns;
    sum.busy_ns += part.busy_ns;
    sum.sink_ns += part.sink_ns;
    sum.max_full_pages += part.max_full_pages;
    sum.faults.add(part.faults);
  }
  sum.min_free_pages = pool_.min_free();
  return sum;
}

std::uint64_t Drainer::drained_pages() const {
  std::uint64_t sum = 0;
  for (const auto& thread : threads_) sum += thread->drained_pages.load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t Drainer::drained_records() const {
  std::uint64_t sum = 0;
  for (const auto& thread : threads_)
    sum += thread->drained_records.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace tidemark
