// SPDX-License-Identifier: Apache-2.0
// Test support: a run whose lanes go on in random ways: sparse and dense, with spans that overlap,
// that nest, that come from anywhere, that are lost.
#pragma once

#include <vector>

#include "tidemark/analyze/testing/hand_capture.h"
#include "tidemark/base/mix.h"
#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/scope_boundary.h"
#include "tidemark/schema/user_event.h"

namespace tidemark::samples {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull) {}
  std::uint64_t next() { return mix(++state_); }
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  // Of all sizes below 2^bits.
  std::uint64_t size(std::uint64_t bits) { return next() & ((1ull << below(bits + 1)) - 1); }

 private:
  std::uint64_t state_;
};

// How one lane of a random capture goes on.
struct LaneShape {
  std::uint64_t count;
  std::uint64_t gap_bits;
  std::uint64_t length_bits;
  bool overlaps;        // spans begin before the one before them has ended
  std::uint64_t outer;  // one in so many spans is around all since the last such; 0: none
  std::uint64_t loss;   // one in so many is lost; 0: none
  std::uint64_t jump;   // one in so many comes from anywhere in the run; 0: none
};

inline LaneShape random_shape(Random& random) {
  return {.count = random.one_in(3) ? random.below(9000) : random.below(300),
          .gap_bits = random.below(30),
          .length_bits = random.below(30),
          .overlaps = random.one_in(3),
          .outer = random.one_in(3) ? 2 + random.size(12) : 0,
          .loss = random.one_in(2) ? 1 + random.size(8) : 0,
          .jump = random.one_in(4) ? 1 + random.size(10) : 0};
}

// put(begin, end, lost) for each span of a lane, in the order of their ends but for the jumps.
template <class Put>
void random_spans(Random& random, const Put& put) {
  const LaneShape shape = random_shape(random);
  std::uint64_t now = kLaunchTicks + random.size(20), outer_from = now;
  for (std::uint64_t i = 0; i < shape.count; ++i) {
    const bool lost = shape.loss != 0 && random.one_in(shape.loss);
    const std::uint64_t length = random.size(shape.length_bits);
    if (shape.outer != 0 && random.one_in(shape.outer)) {
      put(outer_from, now, lost);
      outer_from = now;
    } else if (shape.jump != 0 && random.one_in(shape.jump)) {
      const std::uint64_t begin = kLaunchTicks + random.below(now - kLaunchTicks + 1);
      put(begin, begin + length, lost);
    } else {
      const std::uint64_t begin = now + random.size(shape.gap_bits);
      put(begin, begin + length, lost);
      now = shape.overlaps ? begin + length / 8 : begin + length;
    }
  }
}

inline RuntimeConfig every_stream(std::uint32_t clusters, std::uint32_t schedulers) {
  RuntimeConfig config;
  config.cluster_count = clusters;
  config.scheduler_count = schedulers;
  config.streams[StreamId::kSwimlane] = 4;
  config.streams[StreamId::kScopes] = 1;
  return config;
}

inline void write_scopes(HandCapture& capture, Random& random) {
  std::uint64_t now = kLaunchTicks;
  std::vector<ScopeBoundary> open;
  std::uint32_t serial = 0;
  const bool loses = random.one_in(3);
  for (std::uint64_t i = random.below(4000); i > 0; --i) {
    now += random.size(20);
    if (open.empty() || (open.size() < 6 && random.one_in(2))) {
      open.push_back({.file = random.below(4),
                      .line = static_cast<std::uint32_t>(random.below(3)),
                      .serial = ++serial,
                      .depth = static_cast<std::uint16_t>(open.size()),
                      .ring = static_cast<std::uint8_t>(open.size() % kRingCount)});
    } else {
      open.back().phase = ScopeBoundary::Phase::kEnd;
    }
    open.back().time_ticks = now;
    capture.write_or_lose(capture.lanes().scopes(), open.back(), loses && random.one_in(9));
    if (open.back().phase == ScopeBoundary::Phase::kEnd) open.pop_back();
  }
}

inline void write_random(HandCapture& capture, Random& random) {
  const RuntimeConfig& config = capture.config();
  for (std::uint32_t core = 0; core < config.core_count(); ++core) {
    const std::uint64_t kernels = random.one_in(5) ? 10000 : 1 + random.below(5);
    random_spans(random, [&](std::uint64_t begin, std::uint64_t end, bool lost) {
      capture.write_or_lose(capture.lanes().spans(core),
                            TaskSpan{.task_id = random.next() >> random.below(64),
                                     .begin_ticks = begin,
                                     .end_ticks = end,
                                     .block = static_cast<std::uint32_t>(random.size(32)),
                                     .kernel = static_cast<std::uint16_t>(random.below(kernels)),
                                     .core = static_cast<std::uint16_t>(core)},
                            lost);
    });
    for (std::uint64_t i = random.below(random.one_in(4) ? 3000 : 10); i > 0; --i)
      capture.write(capture.lanes().events(core),
                    UserEvent{.name_hash = 1 + random.below(5),
                              .time_ticks = kLaunchTicks + random.size(40),
                              .value = static_cast<std::int64_t>(random.next()),
                              .kind = random.one_in(2) ? EventKind::kMark : EventKind::kCounter});
  }
  for (std::uint32_t i = 0; i < config.scheduler_count; ++i)
    random_spans(random, [&](std::uint64_t begin, std::uint64_t end, bool lost) {
      capture.write_or_lose(
          capture.lanes().phases(i),
          SchedulerPhase{.kind = random.one_in(2) ? PhaseKind::kComplete : PhaseKind::kDispatch,
                         .begin_ticks = begin,
                         .end_ticks = end,
                         .processed = static_cast<std::uint32_t>(random.size(20)),
                         .ready = static_cast<std::uint32_t>(random.size(32))},
          lost);
    });
  random_spans(random, [&](std::uint64_t begin, std::uint64_t end, bool lost) {
    capture.write_or_lose(capture.lanes().submits(),
                          SubmitSpan{.task_id = random.below(4) << 32 | random.size(20),
                                     .begin_ticks = begin,
                                     .end_ticks = end,
                                     .index = random.size(30),
                                     .heap_bytes = random.size(40),
                                     .live_tasks = static_cast<std::uint32_t>(random.size(14))},
                          lost);
  });
  write_scopes(capture, random);
}

}  // namespace tidemark::samples
