// SPDX-License-Identifier: Apache-2.0
// A block of several threads on the simulated device, as a GPU has them: with a sanitizer it finds
// the barrier that a kernel lacks (tidemark run --block-threads N).
#pragma once

#include <climits>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tidemark/device/sim/sim_block.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/runtime/device_word.h"
#include "tidemark/schema/runtime_config.h"

namespace tidemark {

// What the threads of one block have in common.
class BlockTeam {
 public:
  explicit BlockTeam(std::uint32_t threads) : threads_(threads) {
    TM_CHECK(threads > 0 && threads <= kBlockThreadsMax && memory_.valid());
    arrived_.store_relaxed(0);
    turn_.store_relaxed(0);
    common_.store_relaxed(0);
  }
  BlockTeam(const BlockTeam&) = delete;
  BlockTeam& operator=(const BlockTeam&) = delete;

  [[nodiscard]] std::uint32_t threads() const { return threads_; }

  // Who waits gives way at first and sleeps then: there may be more threads than processors.
  void sync() {
    const std::uint32_t turn = turn_.load_relaxed();  // stays, until this thread has come too
    // [arrived]; pairs with [arrived]: the last one hands on what all the others wrote
    if (arrived_.add_acq_rel(1) + 1 == threads_) {
      arrived_.store_relaxed(0);
      turn_.store_release(turn + 1);  // [everybody arrived]
      SimEnv::wake(turn_, INT_MAX);
      return;
    }
    // pairs with [everybody arrived]
    for (std::uint32_t round = 0; turn_.load_acquire() == turn; ++round) {
      if (round < kTurns)
        SimEnv::take_turn(round);
      else
        SimEnv::sleep(turn_, turn);
    }
  }

  // Where a thread shows the others a value of its own, until the next sync() but one.
  void show(std::uint32_t thread, const void* value) { shown_[thread] = value; }
  template <class T>
  [[nodiscard]] const T& shown(std::uint32_t thread) const {
    return *static_cast<const T*>(shown_[thread]);
  }
  [[nodiscard]] unsigned char* memory() const { return memory_.data(); }
  DeviceWord<std::uint32_t>& common() { return common_; }

 private:
  static constexpr std::uint32_t kTurns = 16;

  std::uint32_t threads_;
  DeviceWord<std::uint32_t> arrived_;
  DeviceWord<std::uint32_t> turn_;
  DeviceWord<std::uint32_t> common_;
  const void* shown_[kBlockThreadsMax] = {};
  MappedMemory memory_{kSharedBytesMax, kSimMemoryFlags};
};

// One thread's view of its block.
template <DeviceEnv Env>
class ThreadedSimBlock {
 public:
  static constexpr std::uint32_t kThreads = 0;      // threads() knows
  static constexpr std::uint32_t kWarpThreads = 2;  // so that a few threads are several warps

  ThreadedSimBlock(BlockTeam& team, std::uint32_t thread) : team_(team), thread_(thread) {}
  // Thread 0 has the lane.
  ThreadedSimBlock(BlockTeam& team, const RegionView* region, std::uint32_t lane)
      : team_(team), thread_(0), events_(recorder_of<EventRecorder<Env>>(region, lane)) {}

  [[nodiscard]] std::uint32_t thread() const { return thread_; }
  [[nodiscard]] std::uint32_t threads() const { return team_.threads(); }
  [[nodiscard]] std::uint32_t warp() const { return thread_ / kWarpThreads; }
  [[nodiscard]] std::uint32_t lane() const { return thread_ % kWarpThreads; }
  DeviceWord<std::uint32_t>& common_word() { return team_.common(); }
  void sync() { team_.sync(); }

  template <class T>
  T broadcast(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (thread_ == 0) team_.show(0, &value);
    sync();
    const T first = team_.shown<T>(0);
    sync();
    return first;
  }
  template <class T, class Op>
  T reduce(const T& value, const Op& op) {
    static_assert(std::is_trivially_copyable_v<T>);
    team_.show(thread_, &value);
    sync();
    T all = team_.shown<T>(0);
    for (std::uint32_t i = 1; i < threads(); ++i) all = op(all, team_.shown<T>(i));
    sync();
    return all;
  }
  // A stretch of whole cache lines for each.
  void copy(void* to, const void* from, std::uint64_t bytes) const {
    const std::uint64_t share = round_up((bytes + threads() - 1) / threads(), 64);
    const std::uint64_t begin = thread_ * share;
    if (begin >= bytes) return;
    std::memcpy(static_cast<unsigned char*>(to) + begin,
                static_cast<const unsigned char*>(from) + begin,
                bytes - begin < share ? bytes - begin : share);
  }
  template <class Left, class Right>
  void multiply_tile(const TileShape& shape, const Left* left, const Right* right,
                     float* out) const {
    multiply_tile_plainly(*this, shape, left, right, out);
  }

  template <class T>
  T* shared(std::uint64_t count) {
    return shared_.take<T>(count);
  }
  // Filled with what is no number, for a kernel that takes it for clean.
  void open_shared(std::uint32_t bytes) {
    if (thread_ == 0) std::memset(team_.memory(), kDirt, bytes);
    sync();
    shared_.open(team_.memory(), bytes);
  }
  void close_shared() { shared_.close(); }
  [[nodiscard]] std::uint64_t shared_overrun() const { return shared_.overrun(); }

  EventRecorder<Env>& recorder() { return events_; }
  static void wait_ns(std::uint64_t ns) { wait_in_sim(ns); }

 private:
  static constexpr int kDirt = 0xFF;  // a NaN of every floating type

  BlockTeam& team_;
  std::uint32_t thread_;
  EventRecorder<Env> events_;
  SimSharedMemory shared_;
};

}  // namespace tidemark
