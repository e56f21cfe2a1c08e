// SPDX-License-Identifier: Apache-2.0
// The stored form of a scope's begin or end: every field comes back, the stamps' bits stay free.
#include "tidemark/schema/scope_boundary.h"

#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr std::size_t kScopeWords = ScopeBoundary::kBytes / 8;

std::uint64_t bits48(std::mt19937_64& random) { return random() >> 16; }
std::uint32_t bits32(std::mt19937_64& random) { return static_cast<std::uint32_t>(random()); }

ScopeBoundary random_boundary(std::mt19937_64& random, std::uint64_t near_ticks) {
  ScopeBoundary made;
  const std::uint64_t away = random() >> 17;
  made.file = random();
  made.time_ticks = random() % 2 == 0 ? near_ticks - away : near_ticks + away;
  made.line = bits32(random);
  made.serial = bits32(random);
  made.depth = static_cast<std::uint16_t>(random());
  made.ring = static_cast<std::uint8_t>(random());
  made.phase = random() % 2 == 0 ? ScopeBoundary::Phase::kBegin : ScopeBoundary::Phase::kEnd;
  made.map_entries = bits32(random);
  made.marks = {.task_tail = bits48(random),
                .task_head = bits48(random),
                .heap_tail = random(),
                .heap_head = random(),
                .dep_tail = random(),
                .dep_head = random(),
                .fanin_tail = bits48(random),
                .fanin_head = bits48(random)};
  for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
    made.peaks.heap_bytes[ring] = random();
    made.peaks.tasks[ring] = bits32(random);
    made.peaks.deps[ring] = bits32(random);
    made.peaks.fanin[ring] = bits32(random);
    made.peaks.heap_request[ring] = bits48(random);
    made.peaks.args_bytes[ring] = bits48(random);
  }
  made.peaks.map_entries = bits32(random);
  return made;
}

void expect_equal(const RingMarks& back, const RingMarks& marks) {
  EXPECT_EQ(back.task_tail, marks.task_tail);
  EXPECT_EQ(back.task_head, marks.task_head);
  EXPECT_EQ(back.heap_tail, marks.heap_tail);
  EXPECT_EQ(back.heap_head, marks.heap_head);
  EXPECT_EQ(back.dep_tail, marks.dep_tail);
  EXPECT_EQ(back.dep_head, marks.dep_head);
  EXPECT_EQ(back.fanin_tail, marks.fanin_tail);
  EXPECT_EQ(back.fanin_head, marks.fanin_head);
}

void expect_equal(const ScopePeaks& back, const ScopePeaks& peaks) {
  for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
    EXPECT_EQ(back.heap_bytes[ring], peaks.heap_bytes[ring]) << "ring " << ring;
    EXPECT_EQ(back.tasks[ring], peaks.tasks[ring]) << "ring " << ring;
    EXPECT_EQ(back.deps[ring], peaks.deps[ring]) << "ring " << ring;
    EXPECT_EQ(back.fanin[ring], peaks.fanin[ring]) << "ring " << ring;
    EXPECT_EQ(back.heap_request[ring], peaks.heap_request[ring]) << "ring " << ring;
    EXPECT_EQ(back.args_bytes[ring], peaks.args_bytes[ring]) << "ring " << ring;
  }
  EXPECT_EQ(back.map_entries, peaks.map_entries);
}

TEST(ScopeBoundary, ComesBackAsItWasPackedWhateverTheStampsSay) {
  std::mt19937_64 random(41);
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    const std::uint64_t near_ticks = (random() >> 2) | std::uint64_t{1} << 60;
    const ScopeBoundary scope = random_boundary(random, near_ticks);
    std::uint64_t words[kScopeWords];
    scope.pack(words);
    for (std::size_t word = 1; word < kScopeWords; word += 2) {
      ASSERT_EQ(words[word] >> 48, 0u) << "stamp of word " << word;
      words[word] |= random() << 48;
    }
    const ScopeBoundary back = ScopeBoundary::unpack(words, near_ticks);
    EXPECT_EQ(back.file, scope.file);
    EXPECT_EQ(back.time_ticks, scope.time_ticks);
    EXPECT_EQ(back.line, scope.line);
    EXPECT_EQ(back.serial, scope.serial);
    EXPECT_EQ(back.depth, scope.depth);
    EXPECT_EQ(back.ring, scope.ring);
    EXPECT_EQ(back.phase, scope.phase);
    EXPECT_EQ(back.map_entries, scope.map_entries);
    expect_equal(back.marks, scope.marks);
    expect_equal(back.peaks, scope.peaks);
  }
}

TEST(ScopeBoundary, RestoresTimesUpToHalfARoundOfTheClockAway) {
  const std::uint64_t near_ticks = (std::uint64_t{7} << 48) + 5;
  const std::uint64_t half = std::uint64_t{1} << 47;
  for (const std::uint64_t ticks : {near_ticks - half, near_ticks, near_ticks + half - 1}) {
    ScopeBoundary scope;
    scope.time_ticks = ticks;
    std::uint64_t words[kScopeWords];
    scope.pack(words);
    EXPECT_EQ(ScopeBoundary::unpack(words, near_ticks).time_ticks, ticks);
  }
}

// A word of its own value per field, so that a field that stands elsewhere shows.
TEST(ScopeBoundary, FieldsStandWhereTheRegistrySays) {
  std::mt19937_64 random(42);
  const ScopeBoundary scope = random_boundary(random, std::uint64_t{1} << 47);
  std::uint64_t words[kScopeWords];
  scope.pack(words);
  const RingMarks& marks = scope.marks;
  const ScopePeaks& peaks = scope.peaks;
  const std::uint64_t values[] = {scope.file,
                                  scope.time_ticks & kTicks48Mask,
                                  scope.line,
                                  scope.depth,
                                  scope.ring,
                                  static_cast<std::uint64_t>(scope.phase),
                                  scope.serial,
                                  marks.heap_tail,
                                  marks.task_tail,
                                  marks.heap_head,
                                  marks.task_head,
                                  marks.dep_tail,
                                  marks.fanin_tail,
                                  marks.dep_head,
                                  marks.fanin_head,
                                  scope.map_entries,
                                  peaks.map_entries,
                                  peaks.heap_bytes[0],
                                  peaks.tasks[0],
                                  peaks.heap_bytes[1],
                                  peaks.tasks[1],
                                  peaks.heap_bytes[2],
                                  peaks.tasks[2],
                                  peaks.heap_bytes[3],
                                  peaks.tasks[3],
                                  peaks.deps[0],
                                  peaks.deps[1],
                                  peaks.fanin[0],
                                  peaks.deps[2],
                                  peaks.deps[3],
                                  peaks.fanin[2],
                                  peaks.fanin[1],
                                  peaks.fanin[3],
                                  peaks.heap_request[0],
                                  peaks.heap_request[1],
                                  peaks.heap_request[2],
                                  peaks.heap_request[3],
                                  peaks.args_bytes[0],
                                  peaks.args_bytes[1],
                                  peaks.args_bytes[2],
                                  peaks.args_bytes[3]};
  std::size_t index = 0;
  for (const Field& field : kScopeFields)
    EXPECT_EQ(field.read(words), values[index++]) << field.name;
  EXPECT_EQ(index, std::size(values));
}

}  // namespace
}  // namespace tidemark
