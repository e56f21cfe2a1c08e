// SPDX-License-Identifier: Apache-2.0
// The stored form of phases and submits: every field comes back, the stamps' bits stay free.
#include "tidemark/schema/phase_span.h"

#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr std::size_t kPhaseWords = SchedulerPhase::kBytes / 8;

// Checks that the stamps' bits are free, and puts random stamps there.
void stamp_odd_words(std::mt19937_64& random, std::uint64_t* words, std::size_t count) {
  for (std::size_t i = 1; i < count; i += 2) {
    ASSERT_EQ(words[i] >> 48, 0u) << "stamp of word " << i;
    words[i] |= random() << 48;
  }
}

std::uint64_t random_near_ticks(std::mt19937_64& random) {
  return (random() >> 2) | std::uint64_t{1} << 60;
}

TEST(SchedulerPhase, ComesBackAsItWasPackedWhateverTheStampsSay) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t near_ticks = random_near_ticks(random);
    const SchedulerPhase phase{
        .kind = random() % 2 == 0 ? PhaseKind::kComplete : PhaseKind::kDispatch,
        .begin_ticks = near_ticks - (random() >> 17),
        .end_ticks = near_ticks + (random() >> 17),
        .loop = random(),
        .processed = static_cast<std::uint32_t>(random()),
        .pop_hit = static_cast<std::uint32_t>(random()),
        .pop_miss = static_cast<std::uint32_t>(random()),
        .ready = static_cast<std::uint32_t>(random())};
    std::uint64_t words[kPhaseWords];
    phase.pack(words);
    ASSERT_NO_FATAL_FAILURE(stamp_odd_words(random, words, kPhaseWords));
    ASSERT_EQ(phase_kind(words), phase.kind);
    const SchedulerPhase back = SchedulerPhase::unpack(words, near_ticks);
    ASSERT_EQ(back.kind, phase.kind);
    ASSERT_EQ(back.begin_ticks, phase.begin_ticks);
    ASSERT_EQ(back.end_ticks, phase.end_ticks);
    ASSERT_EQ(back.loop, phase.loop);
    ASSERT_EQ(back.processed, phase.processed);
    ASSERT_EQ(back.pop_hit, phase.pop_hit);
    ASSERT_EQ(back.pop_miss, phase.pop_miss);
    ASSERT_EQ(back.ready, phase.ready);
  }
}

TEST(SubmitSpan, ComesBackAsItWasPackedWhateverTheStampsSay) {
  std::mt19937_64 random(22);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t near_ticks = random_near_ticks(random);
    const SubmitSpan submit{.task_id = random(),
                            .begin_ticks = near_ticks - (random() >> 17),
                            .end_ticks = near_ticks + (random() >> 17),
                            .index = random(),
                            .heap_bytes = random(),
                            .live_tasks = static_cast<std::uint32_t>(random())};
    std::uint64_t words[kPhaseWords];
    submit.pack(words);
    ASSERT_NO_FATAL_FAILURE(stamp_odd_words(random, words, kPhaseWords));
    ASSERT_EQ(phase_kind(words), PhaseKind::kSubmit);
    const SubmitSpan back = SubmitSpan::unpack(words, near_ticks);
    ASSERT_EQ(back.task_id, submit.task_id);
    ASSERT_EQ(back.begin_ticks, submit.begin_ticks);
    ASSERT_EQ(back.end_ticks, submit.end_ticks);
    ASSERT_EQ(back.index, submit.index);
    ASSERT_EQ(back.heap_bytes, submit.heap_bytes);
    ASSERT_EQ(back.live_tasks, submit.live_tasks);
  }
}

TEST(SchedulerPhase, RestoresTimesUpToHalfARoundOfTheClockAway) {
  const std::uint64_t near_ticks = (std::uint64_t{5} << 48) + 17;
  const std::uint64_t half = std::uint64_t{1} << 47;
  const SchedulerPhase phase{.begin_ticks = near_ticks - half + kClockSkewTicks,
                             .end_ticks = near_ticks + half - 1};
  std::uint64_t words[kPhaseWords];
  phase.pack(words);
  const SchedulerPhase back = SchedulerPhase::unpack(words, near_ticks);
  EXPECT_EQ(back.begin_ticks, phase.begin_ticks);
  EXPECT_EQ(back.end_ticks, phase.end_ticks);
}

TEST(PhaseKinds, HaveEveryFieldInItsPlace) {
  std::mt19937_64 random(23);
  const SchedulerPhase phase{.kind = PhaseKind::kDispatch,
                             .begin_ticks = random() >> 16,
                             .end_ticks = random() >> 16,
                             .loop = random(),
                             .processed = static_cast<std::uint32_t>(random()),
                             .pop_hit = static_cast<std::uint32_t>(random()),
                             .pop_miss = static_cast<std::uint32_t>(random()),
                             .ready = static_cast<std::uint32_t>(random())};
  std::uint64_t words[kPhaseWords];
  phase.pack(words);
  const std::uint64_t of_phase[] = {
      phase.loop,      phase.begin_ticks, phase.processed, phase.pop_hit,
      phase.end_ticks, phase.pop_miss,    phase.ready,     2};
  std::size_t index = 0;
  for (const Field& field : kSchedulerPhaseFields)
    EXPECT_EQ(field.read(words), of_phase[index++]) << field.name;
  EXPECT_TRUE(kPhaseKinds[1].fits(words));
  EXPECT_FALSE(kPhaseKinds[0].fits(words));
  const SubmitSpan submit{.task_id = random(),
                          .begin_ticks = random() >> 16,
                          .end_ticks = random() >> 16,
                          .index = random(),
                          .heap_bytes = random(),
                          .live_tasks = static_cast<std::uint32_t>(random())};
  submit.pack(words);
  const std::uint64_t of_submit[] = {submit.task_id,   submit.begin_ticks, submit.index,
                                     submit.end_ticks, submit.heap_bytes,  3,
                                     submit.live_tasks};
  index = 0;
  for (const Field& field : kSubmitFields)
    EXPECT_EQ(field.read(words), of_submit[index++]) << field.name;
  EXPECT_TRUE(kPhaseKinds[2].fits(words));
  EXPECT_FALSE(kPhaseKinds[1].fits(words));
}

}  // namespace
}  // namespace tidemark
