// SPDX-License-Identifier: Apache-2.0
// Test support: the lanes of a scheduler as threads. As on a GPU only meet() orders what they
// write: where a meeting is missing, ThreadSanitizer finds a race.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tidemark {

template <std::uint32_t kLanes>
class LaneTeam {
 public:
  // Until all have come.
  void meet(std::memory_order order) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const std::uint32_t round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, order) + 1 == kLanes) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1,
                   order == std::memory_order_relaxed ? order : std::memory_order_release);
    } else {
      while (round_.load(order == std::memory_order_relaxed ? order : std::memory_order_acquire) ==
             round)
        std::this_thread::yield();
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  template <class Join>
  std::uint64_t exchange(std::uint32_t lane, std::uint64_t value, const Join& join) {
    values_[lane].store(value, std::memory_order_relaxed);
    meet(std::memory_order_relaxed);
    std::uint64_t joined = values_[0].load(std::memory_order_relaxed);
    for (std::uint32_t i = 1; i < kLanes; ++i)
      joined = join(joined, values_[i].load(std::memory_order_relaxed));
    meet(std::memory_order_relaxed);
    return joined;
  }
  std::uint64_t of_lane(std::uint32_t lane, std::uint64_t value, std::uint32_t wanted) {
    values_[lane].store(value, std::memory_order_relaxed);
    meet(std::memory_order_relaxed);
    const std::uint64_t found = values_[wanted].load(std::memory_order_relaxed);
    meet(std::memory_order_relaxed);
    return found;
  }

 private:
  std::atomic<std::uint64_t> values_[kLanes] = {};
  std::atomic<std::uint32_t> arrived_{0}, round_{0};
};

template <std::uint32_t kLanes>
struct ThreadLanes {
  static constexpr std::uint32_t kCount = kLanes;

  // By kLanes threads, of which the caller is the first.
  template <class Call>
  static void run(const Call& call) {
    LaneTeam<kLanes> team;
    std::vector<std::thread> others;
    for (std::uint32_t lane = 1; lane < kLanes; ++lane)
      others.emplace_back([&, lane] { be(team, lane, call); });
    be(team, 0, call);
    for (std::thread& other : others) other.join();
  }

  static std::uint32_t lane() { return lane_; }
  static void meet() { team_->meet(std::memory_order_acq_rel); }
  static std::uint32_t ballot(bool says) {
    return static_cast<std::uint32_t>(united(std::uint64_t{says} << lane_));
  }
  static std::uint64_t of_first(std::uint64_t value) { return of_lane(value, 0); }
  static std::uint64_t of_lane(std::uint64_t value, std::uint32_t wanted) {
    return team_->of_lane(lane_, value, wanted);
  }
  static std::uint32_t least(std::uint32_t value) {
    return joined(value, [](auto a, auto b) { return a < b ? a : b; });
  }
  static std::uint32_t sum(std::uint32_t value) {
    return joined(value, [](auto a, auto b) { return a + b; });
  }
  static std::uint32_t common(std::uint32_t bits) {
    return joined(bits, [](auto a, auto b) { return a & b; });
  }
  static std::uint64_t united(std::uint64_t bits) {
    return team_->exchange(lane_, bits, [](auto a, auto b) { return a | b; });
  }

 private:
  template <class Join>
  static std::uint32_t joined(std::uint32_t value, const Join& join) {
    return static_cast<std::uint32_t>(team_->exchange(lane_, value, join));
  }
  template <class Call>
  static void be(LaneTeam<kLanes>& team, std::uint32_t lane, const Call& call) {
    team_ = &team;
    lane_ = lane;
    call();
  }
  static inline thread_local LaneTeam<kLanes>* team_ = nullptr;
  static inline thread_local std::uint32_t lane_ = 0;
};

}  // namespace tidemark
