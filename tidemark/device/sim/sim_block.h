// SPDX-License-Identifier: Apache-2.0
// The block that runs a kernel on the simulated device: one thread, for which sync() is nothing.
// Blocks of several threads: threaded_block.h.
#pragma once

#include <sys/mman.h>
#include <time.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tidemark/base/mapped_memory.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/runtime/kernel_block.h"
#include "tidemark/runtime/shared_arena.h"
#include "tidemark/runtime/units/unit_recorder.h"

namespace tidemark {

inline constexpr int kSimMemoryFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// A thread's way to the shared memory of its block. A kernel that asks for more than it declared
// gets memory of its own, so that it comes to its end and can be named.
class SimSharedMemory {
 public:
  void open(unsigned char* base, std::uint32_t bytes) { arena_.open(base, bytes); }
  void close() { arena_.close(); }
  [[nodiscard]] std::uint64_t overrun() const { return arena_.overrun(); }
  template <class T>
  T* take(std::uint64_t count) {
    T* piece = arena_.take<T>(count);
    if (piece != nullptr || arena_.overrun() == 0) return piece;
    return static_cast<T*>(given_.emplace_back(count * sizeof(T), kSimMemoryFlags).base());
  }

 private:
  SharedArena arena_;
  std::vector<MappedMemory> given_;
};

inline void wait_in_sim(std::uint64_t ns) {
  const timespec time{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
                      .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

template <DeviceEnv Env>
class BasicSimBlock : public SoloBlock {
 public:
  static constexpr std::uint32_t kWarpThreads = 1;

  BasicSimBlock() = default;
  BasicSimBlock(const RegionView* region, std::uint32_t lane)
      : events_(recorder_of<EventRecorder<Env>>(region, lane)) {}

  static constexpr std::uint32_t warp() { return 0; }
  static constexpr std::uint32_t lane() { return 0; }
  DeviceWord<std::uint32_t>& common_word() { return common_; }
  template <class T, class Op>
  static T reduce(const T& value, const Op&) {
    return value;
  }
  static void copy(void* to, const void* from, std::uint64_t bytes) {
    std::memcpy(to, from, bytes);
  }
  template <class Left, class Right>
  static void multiply_tile(const TileShape& shape, const Left* left, const Right* right,
                            float* out) {
    multiply_tile_plainly(SoloBlock(), shape, left, right, out);
  }

  template <class T>
  T* shared(std::uint64_t count) {
    return shared_.take<T>(count);
  }
  void open_shared(std::uint32_t bytes) {
    if (!memory_.valid()) memory_ = MappedMemory(kSharedBytesMax, kSimMemoryFlags);
    shared_.open(memory_.data(), bytes);
  }
  void close_shared() { shared_.close(); }
  [[nodiscard]] std::uint64_t shared_overrun() const { return shared_.overrun(); }

  EventRecorder<Env>& recorder() { return events_; }
  static void wait_ns(std::uint64_t ns) { wait_in_sim(ns); }

 private:
  EventRecorder<Env> events_;
  SimSharedMemory shared_;
  DeviceWord<std::uint32_t> common_{};
  MappedMemory memory_;  // mapped for the first kernel that declares some
};

}  // namespace tidemark
