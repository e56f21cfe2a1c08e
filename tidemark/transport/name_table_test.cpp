// SPDX-License-Identifier: Apache-2.0
// Names: each is in the table once with its whole text, whoever came first; a full table
// refuses new names and keeps the old ones.
#include "tidemark/transport/name_table.h"

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/schema/name.h"

namespace tidemark {
namespace {

std::uint64_t hash_of(const std::string& text) { return hash_name(text.data(), text.size()); }

bool intern(NameTable table, const std::string& text) {
  return table.intern(hash_of(text), text.data(), static_cast<std::uint32_t>(text.size()));
}

std::string text_of(const NameSlot& slot) {
  std::string text;
  const std::uint64_t length = slot.length.load_acquire();  // pairs with [name whole]
  for (std::uint64_t i = 0; i < length; ++i)
    text += static_cast<char>(slot.text[i / 8].load_relaxed() >> (8 * (i % 8)));
  return text;
}

// Texts by hash; a hash that is there twice is a failure.
std::map<std::uint64_t, std::string> texts_of(const std::vector<NameSlot>& slots) {
  std::map<std::uint64_t, std::string> texts;
  for (const NameSlot& slot : slots) {
    const std::uint64_t hash = slot.hash.load_acquire();
    if (hash == 0) continue;
    EXPECT_TRUE(texts.emplace(hash, text_of(slot)).second) << "twice: " << text_of(slot);
  }
  return texts;
}

TEST(NameTable, KeepsTheTextOfEveryLength) {
  std::vector<NameSlot> slots(256);
  NameTable table(slots.data(), 256);
  for (std::uint32_t length = 1; length <= kNameTextBytes; ++length) {
    std::string text(length, 'x');
    text[length - 1] = static_cast<char>('a' + length % 26);
    ASSERT_TRUE(intern(table, text));
    EXPECT_EQ(texts_of(slots).at(hash_of(text)), text);
  }
}

TEST(NameTable, CutsATextThatIsTooLongAndKeepsItsHash) {
  std::vector<NameSlot> slots(4);
  const std::string text(kNameTextBytes + 1, 'q');
  ASSERT_TRUE(intern({slots.data(), 4}, text));
  EXPECT_EQ(texts_of(slots).at(hash_of(text)), text.substr(0, kNameTextBytes));
}

TEST(NameTable, AFullTableRefusesNewNamesAndStillKnowsTheOldOnes) {
  std::vector<NameSlot> slots(8);
  NameTable table(slots.data(), 8);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(intern(table, "name " + std::to_string(i)));
  EXPECT_FALSE(intern(table, "one too many"));
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(intern(table, "name " + std::to_string(i)));
  EXPECT_EQ(texts_of(slots).size(), 8u);
}

TEST(NameTable, NamesWithTheSameHomeSlotStandSideBySide) {
  std::vector<NameSlot> slots(4);
  NameTable table(slots.data(), 4);
  EXPECT_TRUE(table.intern(4, "four", 4));
  EXPECT_TRUE(table.intern(8, "eight", 5));
  EXPECT_TRUE(table.intern(7, "seven", 5));
  EXPECT_TRUE(table.intern(11, "eleven", 6));  // probes around the end
  const auto texts = texts_of(slots);
  EXPECT_EQ(texts.at(4), "four");
  EXPECT_EQ(texts.at(8), "eight");
  EXPECT_EQ(texts.at(7), "seven");
  EXPECT_EQ(texts.at(11), "eleven");
}

TEST(NameTable, ManyThreadsInternSharedAndOwnNamesOnceEach) {
  constexpr int kThreads = 4, kShared = 100, kOwn = 100;
  std::vector<NameSlot> slots(1024);
  NameTable table(slots.data(), 1024);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kShared; ++i) {
          EXPECT_TRUE(intern(table, "shared " + std::to_string((i + thread * 25) % kShared)));
          EXPECT_TRUE(intern(table, std::to_string(thread) + " own " + std::to_string(i)));
        }
      });
  }
  const auto texts = texts_of(slots);
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(kShared + kThreads * kOwn));
  for (const auto& [hash, text] : texts) EXPECT_EQ(hash, hash_of(text));
}

TEST(NameTable, ManyThreadsFillATableToItsLastSlot) {
  std::vector<NameSlot> slots(64);
  NameTable table(slots.data(), 64);
  std::atomic<int> kept{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 32; ++i)
          kept += intern(table, std::to_string(thread) + "/" + std::to_string(i));
      });
  }
  EXPECT_EQ(kept.load(), 64);
  EXPECT_EQ(texts_of(slots).size(), 64u);
}

}  // namespace
}  // namespace tidemark
