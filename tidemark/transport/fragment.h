// SPDX-License-Identifier: Apache-2.0
// Framed payload: a frame of any size flows through pages as fragments. A fragment is committed by
// its last word, after its bytes; a frame is whole if all its fragments are there. Fragments are
// one behind the other on 16-byte boundaries.
#pragma once

#include <cstdint>

#include "tidemark/base/align.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

// Writer: the producer that holds the page.
//
//    0              8              16             24             32
//   ┌──────────────┬──────────────┬──────────────┬──────────────┬───────────── … ┬─────────┐
//   │ frame number │ total bytes  │ offset       │ commit       │ bytes of frame │ 0 to 15 │
//   └──────────────┴──────────────┴──────────────┴──────────────┴───────────── … ┴─────────┘
//                                                 stored last
template <template <class> class Word>
struct FragmentHeaderOf {
  Word<std::uint64_t> frame_number;
  Word<std::uint64_t> total_bytes;  // of the frame
  Word<std::uint64_t> offset;       // of this fragment in the frame
  Word<std::uint64_t> commit;       // length, first/last, generation
};
using FragmentHeader = FragmentHeaderOf<SharedWord>;
using FragmentImage = FragmentHeaderOf<PlainWord>;
inline constexpr std::uint32_t kFragmentHeaderBytes = 32;
static_assert(sizeof(FragmentHeader) == kFragmentHeaderBytes);
static_assert(sizeof(FragmentImage) == kFragmentHeaderBytes);

// The commit word:
//
//   63            48 47              34  33    32   31                             0
//  ┌────────────────┬──────────────────┬──────┬─────┬────────────────────────────────┐
//  │ generation     │ 0                │ last │first│ length in bytes                │
//  └────────────────┴──────────────────┴──────┴─────┴────────────────────────────────┘
//
// The generation is that of the page, in the same bits as a record's stamp; 0 until committed.
struct FragmentCommit {
  std::uint32_t length = 0;
  bool first = false;
  bool last = false;
  std::uint32_t generation = 0;  // 0: not committed
};

TM_DEVICE constexpr std::uint64_t encode_commit(const FragmentCommit& commit) {
  return std::uint64_t{commit.length} | std::uint64_t{commit.first} << 32 |
         std::uint64_t{commit.last} << 33 | std::uint64_t{commit.generation} << 48;
}

TM_DEVICE constexpr FragmentCommit decode_commit(std::uint64_t word) {
  return {.length = static_cast<std::uint32_t>(word),
          .first = (word >> 32 & 1) != 0,
          .last = (word >> 33 & 1) != 0,
          .generation = static_cast<std::uint32_t>(word >> 48)};
}

// Bytes from one fragment header to the next.
TM_DEVICE constexpr std::uint64_t fragment_span(std::uint64_t length) {
  return kFragmentHeaderBytes + round_up(length, 16);
}

}  // namespace tidemark
