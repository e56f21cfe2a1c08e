// SPDX-License-Identifier: Apache-2.0
// The stored form of a user event: every field comes back, the stamps' bits stay free.
#include "tidemark/schema/user_event.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(UserEvent, ComesBackAsItWasPackedWhateverTheStampsSay) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t near_ticks = random() | std::uint64_t{1} << 60;
    const UserEvent event{.name_hash = random(),
                          .time_ticks = near_ticks + (random() >> 18),
                          .value = static_cast<std::int64_t>(random()),
                          .kind = i % 2 == 0 ? EventKind::kMark : EventKind::kCounter,
                          .unit = static_cast<std::uint16_t>(random())};
    std::uint64_t words[UserEvent::kBytes / 8];
    event.pack(words);
    ASSERT_EQ(words[1] >> 48, 0u);
    ASSERT_EQ(words[3] >> 48, 0u);
    const std::uint64_t stamp = random() << 48;
    words[1] |= stamp;
    words[3] |= stamp;
    const UserEvent back = UserEvent::unpack(words, near_ticks);
    ASSERT_EQ(back.name_hash, event.name_hash);
    ASSERT_EQ(back.time_ticks, event.time_ticks);
    ASSERT_EQ(back.value, event.value);
    ASSERT_EQ(back.kind, event.kind);
    ASSERT_EQ(back.unit, event.unit);
  }
}

TEST(UserEvent, KeepsTheSignOfAValue) {
  for (const std::int64_t value : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max(), std::int64_t{0}}) {
    std::uint64_t words[UserEvent::kBytes / 8];
    UserEvent{.value = value}.pack(words);
    EXPECT_EQ(UserEvent::unpack(words, 0).value, value);
  }
}

TEST(UserEvent, FieldsStandWhereTheRegistrySays) {
  std::uint64_t words[UserEvent::kBytes / 8];
  UserEvent{.name_hash = 0x1122334455667788,
            .time_ticks = 0xA1A2A3A4A5A6,
            .value = -2,
            .kind = EventKind::kCounter,
            .unit = 0xE1E2}
      .pack(words);
  const std::uint64_t values[] = {0x1122334455667788, 0xA1A2A3A4A5A6,
                                  static_cast<std::uint64_t>(-2), 2, 0xE1E2};
  std::size_t index = 0;
  for (const Field& field : kUserEventFields)
    EXPECT_EQ(field.read(words), values[index++]) << field.name;
  EXPECT_EQ(index, std::size(values));
}

}  // namespace
}  // namespace tidemark
