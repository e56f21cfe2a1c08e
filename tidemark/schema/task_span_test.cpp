// SPDX-License-Identifier: Apache-2.0
// The stored form of a span: every field comes back, the stamps' bits stay free.
#include "tidemark/schema/task_span.h"

#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TaskSpan random_span(std::mt19937_64& random, std::uint64_t near_ticks) {
  return {.task_id = random(),
          .begin_ticks = near_ticks - (random() >> 17),
          .end_ticks = near_ticks + (random() >> 18),
          .block = static_cast<std::uint32_t>(random()),
          .kernel = static_cast<std::uint16_t>(random()),
          .core = static_cast<std::uint16_t>(random())};
}

TEST(TaskSpan, ComesBackAsItWasPackedWhateverTheStampsSay) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t near_ticks = random() | std::uint64_t{1} << 60;
    const TaskSpan span = random_span(random, near_ticks);
    std::uint64_t words[TaskSpan::kBytes / 8];
    span.pack(words);
    ASSERT_EQ(words[1] >> 48, 0u) << "bits of the first stamp";
    ASSERT_EQ(words[3] >> 48, 0u) << "bits of the second stamp";
    const std::uint64_t stamp = random() << 48;
    words[1] |= stamp;
    words[3] |= stamp;
    const TaskSpan back = TaskSpan::unpack(words, near_ticks);
    ASSERT_EQ(back.task_id, span.task_id);
    ASSERT_EQ(back.begin_ticks, span.begin_ticks);
    ASSERT_EQ(back.end_ticks, span.end_ticks);
    ASSERT_EQ(back.block, span.block);
    ASSERT_EQ(back.kernel, span.kernel);
    ASSERT_EQ(back.core, span.core);
  }
}

TEST(TaskSpan, FieldsStandWhereTheRegistrySays) {
  const TaskSpan span{.task_id = 0x1122334455667788,
                      .begin_ticks = 0xA1A2A3A4A5A6,
                      .end_ticks = 0xB1B2B3B4B5B6,
                      .block = 0xC1C2C3C4,
                      .kernel = 0xD1D2,
                      .core = 0xE1E2};
  const std::uint64_t values[] = {span.task_id, span.begin_ticks, span.block,
                                  span.kernel,  span.core,        span.end_ticks};
  std::uint64_t words[TaskSpan::kBytes / 8];
  span.pack(words);
  std::size_t index = 0;
  for (const Field& field : kTaskSpanFields)
    EXPECT_EQ(field.read(words), values[index++]) << field.name;
  EXPECT_EQ(index, std::size(values));
}

}  // namespace
}  // namespace tidemark
