// SPDX-License-Identifier: Apache-2.0
// A page: 128 bytes of header, then records or fragments. It belongs to one side at a time:
//
//   free at host ──handed (host)──▶ free at lane ──opened (producer)──▶ open
//        ▲                                                              │ sealed, published
//        └──── chunk whole in the capture (host) ◀──── full ◀───────────┘ (producer)
//
// Every header word but the last is written by the producer that holds the page; the host writes a
// header only to zero a page that it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tidemark/transport/shared_word.h"

namespace tidemark {

using PageIndex = std::uint32_t;
inline constexpr PageIndex kNoPageIndex = ~PageIndex{0};

inline constexpr std::uint64_t kPageOpen = ~std::uint64_t{0};  // record_count before the seal
inline constexpr std::uint64_t kNoFrame = ~std::uint64_t{0};   // no frame begins in the page
inline constexpr std::uint32_t kGenerationMax = 65535;

//      0                      4                      8
//    ┌─────────────────────────────────────────────┐
//   0│ sequence                 stored first (0)   │ ◀ [page reopened]: stored last, too
//   8│ run id                                      │
//  16│ lane                 │ epoch                │
//  24│ generation           │ record bytes         │
//  32│ first number                                │
//  40│ record count             kPageOpen until …  │ ◀ [page sealed]
//  48│ used bytes           │ gap reason           │
//  56│ open ticks                                  │
//  64│ close ticks                                 │
//  72│ dropped before                              │
//  80│ gap begin ticks                             │
//  88│ gap end ticks                               │
//  96│ stall ticks                                 │
// 104│ first frame offset                          │
// 112│ dropped total                               │
// 120│ landed                                      │ ◀ [page landed]: whoever pulls pages
//    └─────────────────────────────────────────────┘
template <template <class> class Word>
struct PageHeaderOf {
  Word<std::uint64_t> sequence;  // 1, 2, … within the lane; 0: empty or being reopened
  Word<std::uint64_t> run_id;
  Word<std::uint32_t> lane;
  Word<std::uint32_t> epoch;
  Word<std::uint32_t> generation;    // the stamp of this filling, 1..65535
  Word<std::uint32_t> record_bytes;  // 0: framed
  Word<std::uint64_t> first_number;  // of the first record; of the first frame to end here
  Word<std::uint64_t> record_count;  // kPageOpen until sealed; frames that end in the page
  Word<std::uint32_t> used_bytes;    // of the payload, valid once sealed
  Word<std::uint32_t> gap_reason;    // DropReason of the newest attempt in dropped_before
  Word<std::uint64_t> open_ticks;
  Word<std::uint64_t> close_ticks;
  Word<std::uint64_t> dropped_before;   // attempts refused since the page before
  Word<std::uint64_t> gap_begin_ticks;  // first and last of them
  Word<std::uint64_t> gap_end_ticks;
  Word<std::uint64_t> stall_ticks;         // waited for this page
  Word<std::uint64_t> first_frame_offset;  // of the first fragment that begins a frame
  Word<std::uint64_t> dropped_total;       // refused by the lane up to here
  // Where pages are pulled out of a device, by whoever pulls: the sequence once more, when the page
  // is whole in the region. A copy that was cut off has another one.
  Word<std::uint64_t> landed;
};
using PageHeader = PageHeaderOf<SharedWord>;
// The host's own copy of a header.
using PageHeaderImage = PageHeaderOf<PlainWord>;
inline constexpr std::uint32_t kPageHeaderBytes = 128;
static_assert(sizeof(PageHeader) == kPageHeaderBytes);
static_assert(sizeof(PageHeaderImage) == kPageHeaderBytes);
static_assert(std::is_trivially_copyable_v<PageHeader>);
static_assert(offsetof(PageHeader, sequence) == 0 && offsetof(PageHeader, record_count) == 40);

inline constexpr std::uint32_t kPageBytesDefault = 64 * 1024;
inline constexpr std::uint32_t kPageBytesMin = 1024;
inline constexpr std::uint32_t kPageBytesMax = 16 * 1024 * 1024;

}  // namespace tidemark
