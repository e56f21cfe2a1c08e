// SPDX-License-Identifier: Apache-2.0
// The ledger closes on every honest history, whatever was lost and why, and on no other.
#include "tidemark/ledger/ledger.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/ledger/testing/hand_headers.h"

namespace tidemark {
namespace {

constexpr auto kFileError = static_cast<std::size_t>(DropReason::kFileError);

// What a producer and a host did to each other, and what must come out.
struct Model {
  std::vector<PageHeaderImage> pages;
  std::vector<PageFate> fates;
  LaneWordsImage words{};
  LaneCounts expected;

  explicit Model(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uint64_t number = 0, dropped = 0;
    const auto refuse = [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::size_t why = random() % 3;
        ++words.dropped_by[why];
        ++expected.dropped_by[why];
      }
      number += count;
      dropped += count;
      expected.dropped += count;
      expected.gaps += count != 0;
      return count;
    };
    for (std::uint64_t sequence = 1; sequence <= 1 + random() % 30; ++sequence) {
      const std::uint64_t before = refuse(random() % 3 == 0 ? random() % 20 : 0);
      const std::uint64_t count = 1 + random() % 28;
      PageHeaderImage page = page_of(sequence, number, count);
      page.dropped_before = before;
      page.dropped_total = dropped;
      const auto fate = static_cast<PageFate>(random() % 3);
      pages.push_back(page);
      fates.push_back(fate);
      number += count;
      if (fate == PageFate::kDelivered) expected.delivered += count;
      if (fate == PageFate::kRecovered) expected.recovered += count;
      if (fate == PageFate::kFileError) {
        expected.dropped += count;
        expected.dropped_by[kFileError] += count;
      } else {
        expected.bytes += count * 32;
      }
    }
    refuse(random() % 2 == 0 ? random() % 9 : 0);
    words.dropped_total = dropped;
    words.attempted = number;
    words.state = LaneState::kClosed;
    expected.produced = number;
    expected.pages = pages.size();
    expected.gap_lost = dropped;
  }

  LaneCounts counts(std::size_t leave_out = ~std::size_t{0},
                    std::size_t twice = ~std::size_t{0}) const {
    LaneLedger ledger;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      if (i == leave_out) continue;
      ledger.add_page(pages[i], fates[i], pages[i].used_bytes);
      if (i == twice) ledger.add_page(pages[i], fates[i], pages[i].used_bytes);
    }
    ledger.finish(words);
    return ledger.counts();
  }
};

TEST(Ledger, ClosesOnRandomHistoriesWithEveryNumberWhereItBelongs) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Model model(seed);
    const LaneCounts counts = model.counts();
    ASSERT_TRUE(counts.closes()) << "seed " << seed;
    ASSERT_EQ(counts.produced, model.expected.produced);
    ASSERT_EQ(counts.delivered, model.expected.delivered);
    ASSERT_EQ(counts.recovered, model.expected.recovered);
    ASSERT_EQ(counts.dropped, model.expected.dropped);
    ASSERT_EQ(counts.dropped_by, model.expected.dropped_by);
    ASSERT_EQ(counts.overwritten, 0u);
    ASSERT_EQ(counts.bytes, model.expected.bytes);
    ASSERT_EQ(counts.pages, model.expected.pages);
    ASSERT_EQ(counts.gaps, model.expected.gaps);
    ASSERT_EQ(counts.gap_lost, model.expected.gap_lost);
  }
}

TEST(Ledger, DoesNotCloseWhenAnyPageIsWithheld) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Model model(seed);
    for (std::size_t page = 0; page < model.pages.size(); ++page) {
      const LaneCounts counts = model.counts(page);
      ASSERT_FALSE(counts.closes()) << "seed " << seed << " without page " << page;
      ASSERT_GE(counts.unaccounted(), model.pages[page].record_count);
    }
  }
}

TEST(Ledger, DoesNotCloseWhenAnyPageComesTwice) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Model model(seed);
    for (std::size_t page = 0; page < model.pages.size(); ++page)
      ASSERT_FALSE(model.counts(~std::size_t{0}, page).closes()) << "seed " << seed;
  }
}

TEST(Ledger, AClosedLaneMustHaveGivenExactlyTheNumbersFound) {
  for (const std::uint64_t attempted : {9u, 10u, 11u}) {
    LaneLedger ledger;
    ledger.add_page(page_of(1, 0, 10), PageFate::kDelivered, 320);
    ledger.finish(closed_words(attempted));
    EXPECT_EQ(ledger.counts().closes(), attempted == 10) << attempted;
  }
}

TEST(Ledger, AnOpenLaneMayHaveStoredItsNumbersALittleLater) {
  LaneLedger ledger;
  ledger.add_page(page_of(1, 0, 10), PageFate::kRecovered, 320);
  LaneWordsImage words = closed_words(0);  // the page was not published yet
  words.state = LaneState::kOpen;
  ledger.finish(words);
  EXPECT_TRUE(ledger.counts().closes());
  EXPECT_EQ(ledger.counts().produced, 10u);
}

// The producer stores the reason, then the total, then the number: a kill may come in between.
TEST(Ledger, ClosesWhereverARefusalWasCutOff) {
  for (int stores = 0; stores <= 3; ++stores) {
    for (const bool closed : {false, true}) {
      LaneLedger ledger(Overflow::kDrop);
      ledger.add_page(page_of(1, 0, 4), PageFate::kDelivered, 128);
      LaneWordsImage words{};
      words.state = closed ? LaneState::kClosed : LaneState::kOpen;
      words.dropped_by[2] = stores >= 1 ? 3 : 2;
      words.tail_gap_reason = 2;
      words.dropped_total = stores >= 2 ? 3 : 2;
      words.attempted = stores >= 3 ? 7 : 6;
      ledger.finish(words);
      const LaneCounts& counts = ledger.counts();
      const bool settled = stores == 0 || stores == 3;
      EXPECT_EQ(counts.closes(), settled || !closed) << stores << " stores, closed " << closed;
      if (closed) continue;
      EXPECT_EQ(counts.dropped, stores >= 2 ? 3u : 2u);
      EXPECT_EQ(counts.dropped_by[2], counts.dropped);
      EXPECT_EQ(counts.produced, 4 + counts.dropped);
    }
  }
}

TEST(Ledger, ReasonsThatDoNotSumToTheDropsAreUnaccounted) {
  LaneLedger ledger(Overflow::kDrop);
  LaneWordsImage words = closed_words(5);
  words.dropped_total = 5;
  words.dropped_by[0] = 2;
  ledger.finish(words);
  EXPECT_FALSE(ledger.counts().closes());
}

TEST(Ledger, RecordsThatWereNotWholeWereNeverProduced) {
  PageHeaderImage open = page_of(1, 0, 0);
  open.record_count = kPageOpen;
  LaneLedger ledger;
  ledger.add_counted_page(open, {.whole = 7, .torn = 2, .used_bytes = 9 * 32},
                          PageFate::kRecovered);
  ledger.finish({});
  EXPECT_TRUE(ledger.counts().closes());
  EXPECT_EQ(ledger.counts().produced, 7u);
  EXPECT_EQ(ledger.counts().incomplete, 2u);
}

TEST(Ledger, ASealedPageWhoseStampsConfirmLessDoesNotClose) {
  LaneLedger ledger;
  ledger.add_counted_page(page_of(1, 0, 9), {.whole = 7, .torn = 2, .used_bytes = 9 * 32},
                          PageFate::kRecovered);
  ledger.finish(closed_words(9));
  EXPECT_FALSE(ledger.counts().closes());
  EXPECT_EQ(ledger.counts().unaccounted(), 2u);
}

TEST(Ledger, KeepLastCountsWhatWasBeforeTheOldestSurvivorAsOverwritten) {
  LaneLedger ledger(Overflow::kKeepLast);
  ledger.add_page(page_of(41, 4000, 100), PageFate::kDelivered, 3200);
  ledger.add_page(page_of(42, 4100, 50), PageFate::kDelivered, 1600);
  ledger.finish(closed_words(4150));
  EXPECT_TRUE(ledger.counts().closes());
  EXPECT_EQ(ledger.counts().overwritten, 4000u);
  EXPECT_EQ(ledger.counts().delivered, 150u);
}

TEST(Ledger, AFrameWhoseBeginningWasOverwrittenIsOverwritten) {
  LaneLedger ledger(Overflow::kKeepLast);
  ledger.add_page(framed_page(7, 20, 0, true), PageFate::kDelivered, 512);  // middle of frame 20
  ledger.add_page(framed_page(8, 20, 3, true), PageFate::kDelivered, 512);  // its end, 21, 22
  ledger.add_page(framed_page(9, 23, 1, true), PageFate::kDelivered, 512);  // the rest of 23
  ledger.add_page(framed_page(10, 24, 2, false), PageFate::kDelivered, 512);
  ledger.finish(closed_words(26));
  EXPECT_TRUE(ledger.counts().closes());
  EXPECT_EQ(ledger.counts().overwritten, 21u) << "0 to 19, and 20 that lost its beginning";
  EXPECT_EQ(ledger.counts().delivered, 5u);
}

TEST(Ledger, TheFirstPageEverHasNoOrphan) {
  LaneLedger ledger(Overflow::kKeepLast);
  ledger.add_page(framed_page(1, 0, 2, false), PageFate::kDelivered, 512);
  ledger.finish(closed_words(2));
  EXPECT_EQ(ledger.counts().overwritten, 0u);
  EXPECT_EQ(ledger.counts().delivered, 2u);
}

TEST(Ledger, AFrameThatLostAPartToTheFileIsAFileErrorOnce) {
  LaneLedger ledger;
  ledger.add_page(framed_page(1, 0, 1, false), PageFate::kDelivered, 512);
  ledger.add_page(framed_page(2, 1, 1, true), PageFate::kFileError, 512);  // 1 ends, 2 begins
  ledger.add_page(framed_page(3, 2, 0, true), PageFate::kDelivered, 512);  // middle of 2
  ledger.add_page(framed_page(4, 2, 2, true), PageFate::kDelivered, 512);  // 2 ends, 3
  ledger.finish(closed_words(4));
  const LaneCounts& counts = ledger.counts();
  EXPECT_TRUE(counts.closes());
  EXPECT_EQ(counts.delivered, 2u);
  EXPECT_EQ(counts.dropped, 2u);
  EXPECT_EQ(counts.dropped_by[kFileError], 2u);
}

TEST(Ledger, ExplainsAtMostWhatIsMissing) {
  LaneLedger ledger;
  ledger.finish(closed_words(10));
  EXPECT_EQ(ledger.counts().unaccounted(), 10u);
  ledger.explain(DropReason::kDeviceLost, 4);
  EXPECT_FALSE(ledger.counts().closes());
  ledger.explain(DropReason::kFileError, 100);
  EXPECT_TRUE(ledger.counts().closes());
  EXPECT_EQ(ledger.counts().dropped, 10u);
  EXPECT_EQ(ledger.counts().dropped_by[kFileError], 6u);
}

TEST(Ledger, WithoutWordsWhatCameAfterTheLastPageStaysUnknown) {
  const Model model(3);
  LaneLedger ledger;
  std::uint64_t before = 0;
  for (const auto& page : model.pages) {
    ledger.add_page(page, PageFate::kDelivered, page.used_bytes);
    before += page.dropped_before;
  }
  ledger.finish_without_words();
  EXPECT_TRUE(ledger.counts().closes());
  EXPECT_EQ(ledger.counts().dropped, before);
  EXPECT_EQ(ledger.counts().produced,
            model.pages.back().first_number + model.pages.back().record_count);
}

TEST(Ledger, SumsOfLanesCloseIfTheLanesDo) {
  LaneCounts sum;
  for (std::uint64_t seed = 0; seed < 50; ++seed) sum.add(Model(seed).counts());
  EXPECT_TRUE(sum.closes());
  EXPECT_GT(sum.delivered, 0u);
}

}  // namespace
}  // namespace tidemark
