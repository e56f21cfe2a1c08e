// SPDX-License-Identifier: Apache-2.0
// The words of an at line: every part keeps to its bits.
#include "tidemark/transport/at_line.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(AtLine, AWordGivesBackWhatWasPutIn) {
  for (const std::uint32_t slot : {0u, 1u, 255u, 65'534u, kNoNameSlot})
    for (const bool waits : {false, true})
      for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{17}, kAtNumberMask}) {
        const AtWord at = decode_at(encode_at({slot, waits, number}));
        EXPECT_EQ(at.name_slot, slot);
        EXPECT_EQ(at.waits, waits);
        EXPECT_EQ(at.number, number);
      }
  EXPECT_EQ(decode_at(encode_at({65'535, false, 1})).name_slot, kNoNameSlot) << "one too many";
  EXPECT_EQ(encode_at({}), 0u) << "nothing said";
}

TEST(AtLine, APlaceIsKnownAndGivesBackItsParts) {
  const ProducerPlace place =
      decode_place(encode_place({.multiprocessor = 0xFFFF, .block = 0xFFFF'FFFF, .warp = 0x7FFF}));
  EXPECT_EQ(place.multiprocessor, 0xFFFFu);
  EXPECT_EQ(place.block, 0xFFFF'FFFFu);
  EXPECT_EQ(place.warp, 0x7FFFu);
  EXPECT_NE(encode_place({}), 0u) << "the first warp of the first block is a place";
}

}  // namespace
}  // namespace tidemark
