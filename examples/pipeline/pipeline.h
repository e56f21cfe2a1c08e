// SPDX-License-Identifier: Apache-2.0
// A pipeline of three stages in every CTA: one loads tiles, one computes on them, one stores the
// results, and flags pass the tiles on. It has nothing to do with Tidemark's runtime. The same
// stages are compiled for a GPU (warps of a CTA, cuda.cu) and for threads (threads.cpp).
//
// The lines marked [tm] are all that seeing inside it takes: a recorder per stage that says what
// the stage is at or waits for, and a span per tile.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/record.h"  // [tm]

namespace pipeline {

inline constexpr std::uint32_t kDepth = 4;  // tiles on their way between two stages
inline constexpr std::uint32_t kTile = 128;
inline constexpr std::uint32_t kStages = 3;
inline constexpr const char* kStageNames[kStages] = {"load", "compute", "store"};

using Count = tidemark::SharedWord<std::uint64_t>;

// In the shared memory of a CTA. Each count has one writer, and says how many tiles its stage has
// done: that is the flag the next stage (and, for room, the one before it) waits for.
struct Tiles {
  Count loaded, computed, stored;
  float in[kDepth][kTile];
  float out[kDepth][kTile];
};

// What to work on. Data of all CTAs, one behind the other.
struct Work {
  const float* from;
  float* to;
  std::uint64_t rounds;  // tiles of a CTA
  // On request one stage of one CTA does not come back from one tile.
  std::int64_t hang_cta = -1;
  std::uint32_t hang_stage = 0;
  std::uint64_t hang_round = 0;
  // Threads have to leave in the end, also from there; a kernel does not.
  const tidemark::SharedWord<std::uint32_t>* leave = nullptr;
};

TM_DEVICE inline float result_of(float value) { return 2.0f * value + 1.0f; }

TM_DEVICE inline bool leaves(const Work& work) {
  return work.leave != nullptr && work.leave->load_relaxed() != 0;
}

// One stage of one CTA. Every thread of its block calls this; thread 0's recorder has the lane.
// Device::pause() is how a thread waits a little.
template <class Device, class Recorder, class Block>
class Stage {
 public:
  TM_DEVICE Stage(Recorder& recorder, Block block, const Work& work, Tiles& tiles,
                  std::uint32_t cta, std::uint32_t stage)
      : recorder_(recorder), block_(block), work_(work), tiles_(tiles), cta_(cta), stage_(stage) {}

  TM_DEVICE void load() {
    for (std::uint64_t round = 0; round < work_.rounds; ++round) {
      recorder_.waits_for("room", round);  // [tm]
      if (!wait_until(tiles_.stored, round < kDepth ? 0 : round - kDepth + 1)) return;
      const auto begin_ticks = recorder_.now();  // [tm]
      recorder_.at("load", round);               // [tm]
      for (std::uint32_t i = block_.thread(); i < kTile; i += block_.threads())
        tiles_.in[round % kDepth][i] = work_.from[place_of(round) + i];
      if (!pass_on(tiles_.loaded, round, begin_ticks)) return;
    }
  }

  TM_DEVICE void compute() {
    for (std::uint64_t round = 0; round < work_.rounds; ++round) {
      recorder_.waits_for("loaded", round);  // [tm]
      if (!wait_until(tiles_.loaded, round + 1)) return;
      const auto begin_ticks = recorder_.now();  // [tm]
      recorder_.at("compute", round);            // [tm]
      for (std::uint32_t i = block_.thread(); i < kTile; i += block_.threads())
        tiles_.out[round % kDepth][i] = result_of(tiles_.in[round % kDepth][i]);
      if (!pass_on(tiles_.computed, round, begin_ticks)) return;
    }
  }

  TM_DEVICE void store() {
    for (std::uint64_t round = 0; round < work_.rounds; ++round) {
      recorder_.waits_for("computed", round);  // [tm]
      if (!wait_until(tiles_.computed, round + 1)) return;
      const auto begin_ticks = recorder_.now();  // [tm]
      recorder_.at("store", round);              // [tm]
      for (std::uint32_t i = block_.thread(); i < kTile; i += block_.threads())
        work_.to[place_of(round) + i] = tiles_.out[round % kDepth][i];
      if (!pass_on(tiles_.stored, round, begin_ticks)) return;
    }
  }

 private:
  TM_DEVICE std::uint64_t place_of(std::uint64_t round) const {
    return (cta_ * work_.rounds + round) * kTile;
  }

  // False: told to leave.
  TM_DEVICE bool wait_until(const Count& count, std::uint64_t wanted) {
    bool there = true;
    if (block_.thread() == 0) {
      // pairs with [tile passed on]
      while (count.load_acquire() < wanted && there) {
        Device::pause();
        there = !leaves(work_);
      }
    }
    there = block_.broadcast(there ? 1 : 0) != 0;
    block_.sync();  // what thread 0 has seen, all have seen
    return there;
  }

  TM_DEVICE bool pass_on(Count& count, std::uint64_t round, std::uint64_t begin_ticks) {
    block_.sync();
    const bool hangs =
        work_.hang_cta == cta_ && work_.hang_stage == stage_ && work_.hang_round == round;
    while (hangs && !leaves(work_)) Device::pause();
    if (hangs) return false;
    if (block_.thread() != 0) return true;
    count.store_release(round + 1);                                 // [tile passed on]
    recorder_.write({.task_id = round,                              // [tm]
                     .begin_ticks = begin_ticks,                    // [tm]
                     .end_ticks = recorder_.now(),                  // [tm]
                     .block = cta_,                                 // [tm]
                     .core = static_cast<std::uint16_t>(stage_)});  // [tm]
    return true;
  }

  Recorder& recorder_;
  Block block_;
  const Work& work_;
  Tiles& tiles_;
  std::uint32_t cta_, stage_;
};

template <class Device, class Recorder, class Block>
TM_DEVICE void run_stage(Recorder& recorder, Block block, const Work& work, Tiles& tiles,
                         std::uint32_t cta, std::uint32_t stage) {
  Stage<Device, Recorder, Block> me(recorder, block, work, tiles, cta, stage);
  if (stage == 0) me.load();
  if (stage == 1) me.compute();
  if (stage == 2) me.store();
  recorder.close();  // [tm]
}

}  // namespace pipeline
