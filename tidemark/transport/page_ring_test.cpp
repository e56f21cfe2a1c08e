// SPDX-License-Identifier: Apache-2.0
// A slot proves by its own content that it is the one for a position: no lap, no mixture of bytes
// and no unused slot is ever taken for a page that was not sent.
#include "tidemark/transport/page_ring.h"

#include <array>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/seed_range.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kSlots = 8;

struct RingMemory {
  std::array<SharedWord<std::uint64_t>, kSlots> slots{};
  PageRing ring() { return {slots.data(), kSlots}; }
};

// Every choice of old or new for each of the eight bytes.
std::uint64_t mixture(std::uint64_t before, std::uint64_t after, unsigned from_after) {
  unsigned char old_bytes[8], new_bytes[8];
  std::memcpy(old_bytes, &before, 8);
  std::memcpy(new_bytes, &after, 8);
  for (unsigned i = 0; i < 8; ++i)
    if ((from_after >> i & 1) != 0) old_bytes[i] = new_bytes[i];
  std::uint64_t mixed = 0;
  std::memcpy(&mixed, old_bytes, 8);
  return mixed;
}

TEST(PageRing, GivesBackThePageOfEveryPosition) {
  RingMemory memory;
  PageRing ring = memory.ring();
  std::mt19937_64 random(3);
  for (std::uint64_t position = 0; position < 1000; ++position) {
    const auto page = static_cast<PageIndex>(random() % kNoPageIndex);
    EXPECT_EQ(ring.receive(position), kNoPageIndex) << "before it is sent";
    ring.send(position, page);
    EXPECT_EQ(ring.receive(position), page);
  }
}

TEST(PageRing, AZeroSlotIsNoPageAtAnyPositionInUse) {
  RingMemory memory;
  for (std::uint64_t position = 0; position < 1'000'000; ++position)
    ASSERT_EQ(memory.ring().receive(position), kNoPageIndex);
}

TEST(PageRing, RefusesASlotOfAnEarlierLap) {
  for (const PageIndex page : {0u, 1u, 255u, 256u, 65535u, 0xFFFFFFFEu})
    for (std::uint64_t sent = 0; sent < 64; ++sent) {
      const std::uint64_t slot = encode_slot(page, sent);
      for (std::uint64_t lap = 1; lap < 4096; ++lap)
        ASSERT_EQ(decode_slot(slot, sent + lap * kSlots), kNoPageIndex)
            << page << " sent at " << sent << ", " << lap << " laps later";
    }
}

TEST(PageRing, RefusesASlotOfALaterLap) {
  RingMemory memory;
  PageRing ring = memory.ring();
  ring.send(kSlots + 3, 7);
  EXPECT_EQ(ring.receive(3), kNoPageIndex);
  EXPECT_EQ(ring.receive(kSlots + 3), 7u);
}

TEST(PageRing, GoesOnBeyondTheFirst32BitsOfPositions) {
  RingMemory memory;
  PageRing ring = memory.ring();
  constexpr std::uint64_t kStart = (std::uint64_t{1} << 32) - 20;
  for (std::uint64_t position = kStart; position < kStart + 40; ++position) {
    // The one zero that would read as page 0 is in a slot that earlier laps have used.
    ring.send(position, static_cast<PageIndex>(position % 5));
    EXPECT_EQ(ring.receive(position), position % 5);
    EXPECT_EQ(ring.receive(position + kSlots), kNoPageIndex);
    EXPECT_EQ(ring.receive(position - kSlots), kNoPageIndex);
  }
}

// A slot read or written in pieces shows some bytes of the lap before and some of this one. What it
// decodes to at the new position is the page sent there, or nothing.
TEST(PageRing, AMixtureOfOldAndNewBytesIsNeverAWrongPage) {
  std::mt19937_64 random(5);
  for (std::uint64_t pair = 0; pair < fewer_under_sanitizer(100'000); ++pair) {
    const std::uint32_t slot_count = 1u << (random() % 9);
    const std::uint32_t page_count = 1u << (1 + random() % 16);
    const std::uint64_t before_at = random() >> (random() % 64);
    const std::uint64_t after_at = before_at + slot_count;
    const auto before_page = static_cast<PageIndex>(random() % page_count);
    const auto after_page = static_cast<PageIndex>(random() % page_count);
    const std::uint64_t before = encode_slot(before_page, before_at);
    const std::uint64_t after = encode_slot(after_page, after_at);
    for (unsigned from_after = 0; from_after < 256; ++from_after) {
      const PageIndex page = decode_slot(mixture(before, after, from_after), after_at);
      ASSERT_TRUE(page == kNoPageIndex || page == after_page)
          << "pages " << before_page << ", " << after_page << " at " << after_at << " of "
          << slot_count << " slots: bytes " << from_after << " give " << page;
    }
  }
}

TEST(PageRing, AMixtureOfAnUnusedSlotAndTheFirstPageIsNeverAWrongPage) {
  std::mt19937_64 random(6);
  for (std::uint64_t pair = 0; pair < fewer_under_sanitizer(100'000); ++pair) {
    const auto page = static_cast<PageIndex>(random() % 4096);
    const std::uint64_t position = random() % 256;
    for (unsigned from_after = 0; from_after < 256; ++from_after) {
      const std::uint64_t mixed = mixture(0, encode_slot(page, position), from_after);
      const PageIndex read = decode_slot(mixed, position);
      ASSERT_TRUE(read == kNoPageIndex || read == page);
    }
  }
}

// The pages' content travels with the slot: what the sender stored before the send, plainly, is
// what the receiver finds. Under ThreadSanitizer this is the proof of the release.
TEST(PageRing, CarriesPagesAndTheirContentBetweenTwoThreads) {
  constexpr std::uint64_t kRounds = 20'000;
  RingMemory there, back;
  std::vector<std::uint64_t> content(kSlots, 0);
  std::jthread producer([&] {
    PageRing out = there.ring(), in = back.ring();
    std::uint64_t returned = 0;
    for (std::uint64_t sent = 0; sent < kRounds; ++sent) {
      PageIndex page = static_cast<PageIndex>(sent);  // the first lap uses fresh pages
      if (sent >= kSlots) {
        while ((page = in.receive(returned)) == kNoPageIndex) std::this_thread::yield();
        ++returned;
      }
      content[page] = sent * 3 + 1;
      out.send(sent, page);
    }
  });
  PageRing in = there.ring(), out = back.ring();
  for (std::uint64_t position = 0; position < kRounds; ++position) {
    PageIndex page = kNoPageIndex;
    while ((page = in.receive(position)) == kNoPageIndex) std::this_thread::yield();
    ASSERT_LT(page, kSlots);
    ASSERT_EQ(content[page], position * 3 + 1);
    content[page] = 0;
    out.send(position, page);
  }
}

}  // namespace
}  // namespace tidemark
