// SPDX-License-Identifier: Apache-2.0
// What the ledger makes of pages that did not come: overwritten, dropped by the device, missing, or
// a contradiction that nothing explains.
#include <gtest/gtest.h>

#include "tidemark/ledger/ledger.h"
#include "tidemark/ledger/testing/hand_headers.h"

namespace tidemark {
namespace {

TEST(LedgerGaps, AGapInTheSequenceOfAKeepLastLaneIsOverwritten) {
  LaneLedger ledger(Overflow::kKeepLast);
  ledger.add_page(page_of(41, 4000, 100), PageFate::kRecovered, 3200);
  ledger.add_page(page_of(43, 4200, 100), PageFate::kRecovered, 3200);  // 42 was reopened
  LaneWordsImage words{};
  words.state = LaneState::kOpen;
  words.opened_pages = 45;
  words.attempted = 4400;  // 44 was reopened, 45 is being filled
  ledger.finish(words);
  EXPECT_TRUE(ledger.counts().closes());
  EXPECT_EQ(ledger.counts().overwritten, 4200u);
  EXPECT_EQ(ledger.counts().recovered, 200u);
}

TEST(LedgerGaps, ANumberGapBetweenNeighbouringPagesIsAContradictionOnAnyLane) {
  for (const Overflow overflow : {Overflow::kWait, Overflow::kDrop, Overflow::kKeepLast}) {
    LaneLedger ledger(overflow);
    ledger.add_page(page_of(1, 0, 100), PageFate::kDelivered, 3200);
    ledger.add_page(page_of(2, 105, 100), PageFate::kDelivered, 3200);
    ledger.finish(closed_words(205));
    EXPECT_FALSE(ledger.counts().closes());
    EXPECT_EQ(ledger.counts().contradictory, 5u);
    EXPECT_EQ(ledger.counts().missing, 0u);
  }
}

TEST(LedgerGaps, WhatFollowsInAPageThatWasTakenOpenIsMissingOrOverwritten) {
  for (const Overflow overflow : {Overflow::kWait, Overflow::kKeepLast}) {
    LaneLedger ledger(overflow);
    PageHeaderImage open = page_of(1, 0, 0);
    open.record_count = kPageOpen;
    ledger.add_counted_page(open, {.whole = 7, .torn = 0, .used_bytes = 7 * 32},
                            PageFate::kRecovered);
    ledger.add_page(page_of(2, 28, 10), PageFate::kRecovered, 320);
    ledger.finish(closed_words(38));
    EXPECT_EQ(ledger.counts().contradictory, 0u);
    EXPECT_EQ(overflow == Overflow::kWait ? ledger.counts().missing : ledger.counts().overwritten,
              21u);
  }
}

// A page that did not come had recorded drops of the device. They are drops, and the rest of its
// numbers is missing.
TEST(LedgerGaps, DropsInTheHeaderOfAMissingPageAreDropsAllTheSame) {
  for (const auto missing : {1u, 2u, 3u}) {
    LaneLedger ledger(Overflow::kDrop);
    PageHeaderImage pages[3] = {page_of(1, 2, 10), page_of(2, 15, 10), page_of(3, 29, 10)};
    const std::uint64_t before[3] = {2, 3, 4};
    for (std::uint64_t i = 0, total = 0; i < 3; ++i) {
      pages[i].dropped_before = before[i];
      pages[i].dropped_total = total += before[i];
      if (i + 1 != missing) ledger.add_page(pages[i], PageFate::kDelivered, 320);
    }
    LaneWordsImage words = closed_words(44);
    words.dropped_total = words.dropped_by[0] = 14;  // five more at the end
    ledger.finish(words);
    const LaneCounts& counts = ledger.counts();
    EXPECT_EQ(counts.missing, 10u) << missing;
    EXPECT_EQ(counts.contradictory, 0u);
    EXPECT_EQ(counts.dropped, 14u);
    EXPECT_EQ(counts.gap_lost, 14u);
    EXPECT_EQ(counts.produced, 44u);
    ledger.explain(DropReason::kFileError, 10);
    EXPECT_TRUE(ledger.counts().closes());
  }
}

TEST(LedgerGaps, ATotalThatCannotBeIsNotBelieved) {
  for (const std::uint64_t total : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    LaneLedger ledger(Overflow::kDrop);
    PageHeaderImage page = page_of(9, 100, 10);
    page.dropped_before = 4;
    page.dropped_total = total;
    ledger.add_page(page, PageFate::kDelivered, 320);
    EXPECT_EQ(ledger.counts().dropped, 4u);
    EXPECT_EQ(ledger.counts().missing, 96u);
  }
}

// The middle of a frame was in a page that did not come: no number is missing, but the frame is.
TEST(LedgerGaps, AFrameThatLostItsMiddleWithAPageIsNotDelivered) {
  for (const Overflow overflow : {Overflow::kWait, Overflow::kKeepLast}) {
    LaneLedger ledger(overflow);
    ledger.add_page(framed_page(1, 0, 1, false), PageFate::kDelivered, 512);
    ledger.add_page(framed_page(3, 1, 2, true), PageFate::kDelivered, 512);
    ledger.finish(closed_words(3));
    EXPECT_EQ(ledger.counts().delivered, 2u);
    EXPECT_EQ(overflow == Overflow::kWait ? ledger.counts().missing : ledger.counts().overwritten,
              1u);
  }
}

TEST(LedgerGaps, NothingExplainsAContradiction) {
  LaneLedger ledger;
  ledger.add_page(page_of(1, 0, 10), PageFate::kDelivered, 320);
  ledger.add_page(page_of(1, 0, 10), PageFate::kDelivered, 320);  // seen twice
  ledger.add_counted_page(page_of(2, 10, 9), {.whole = 7, .torn = 2, .used_bytes = 9 * 32},
                          PageFate::kRecovered);
  LaneWordsImage words = closed_words(25);
  words.dropped_by[0] = 3;
  ledger.finish(words);
  EXPECT_EQ(ledger.counts().contradictory, 10u + 2 + 3);
  EXPECT_EQ(ledger.counts().missing, 6u);
  ledger.explain(DropReason::kDeviceLost, 100);
  EXPECT_EQ(ledger.counts().missing, 0u);
  EXPECT_EQ(ledger.counts().contradictory, 15u);
  EXPECT_FALSE(ledger.counts().closes());
}

}  // namespace
}  // namespace tidemark
