// SPDX-License-Identifier: Apache-2.0
// A lane: one producer's single-writer path for one stream. The entry below is in the region's
// lane table; the lane's two page rings and its published counter are in arrays of their own.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tidemark/schema/stream_id.h"
#include "tidemark/transport/at_line.h"
#include "tidemark/transport/page.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

using LaneIndex = std::uint32_t;

enum class LaneState : std::uint32_t {
  kUnopened = 0,  // nothing is known about it
  kOpen = 1,
  kClosed = 2,  // its producer flushed and left
};

// Who writes into the lane, in words a person reads.
inline constexpr std::uint32_t kProducerTextBytes = 40;

// Writer: host, before launch; a lane of a user's own thread is described when it is opened.
struct LanePlan {
  StreamId stream;
  Overflow overflow;
  std::uint32_t record_bytes;     // 0: framed
  PageIndex reserved_first_page;  // pages outside the shared pool (keep-last, events)
  std::uint32_t reserved_page_count;
  std::uint32_t unit;  // number of the producing unit, for records that name it
  std::uint32_t reserved;
  char producer[kProducerTextBytes];
};
static_assert(sizeof(LanePlan) == 64 && std::is_trivially_copyable_v<LanePlan>);

// Writer: the lane's producer. Stored when it drops, switches page, waits or closes, never per
// record. The tail fields describe what was lost after the last page.
template <template <class> class Word>
struct LaneWordsOf {
  Word<LaneState> state;
  Word<std::uint32_t> epoch;           // raised by each open
  Word<std::uint64_t> attempted;       // numbers given so far
  Word<std::uint64_t> opened_pages;    // sequence of the newest page
  Word<std::uint64_t> acquired_count;  // position in the free ring
  Word<std::uint64_t> tail_dropped;    // refused since the newest page
  Word<std::uint64_t> dropped_by[kDropReasonCount];
  Word<std::uint64_t> dropped_total;  // less the newest page's: the tail
  Word<std::uint64_t> tail_gap_begin_ticks;
  Word<std::uint64_t> tail_gap_end_ticks;
  Word<std::uint64_t> stall_ticks;      // waited for pages in all
  Word<std::uint64_t> open_page_index;  // the page being filled; ~0: none
  Word<std::uint32_t> tail_gap_reason;
  Word<std::uint32_t> waiting;  // 1 while the producer waits for a page
};
using LaneWords = LaneWordsOf<SharedWord>;
using LaneWordsImage = LaneWordsOf<PlainWord>;
static_assert(sizeof(LaneWords) == 128 && sizeof(LaneWordsImage) == 128);
static_assert(std::is_trivially_copyable_v<LaneWords>);

// What recording costs the unit whose lanes these are, where its watchdogs look. Writer: the unit.
struct RecorderLine {
  SharedWord<std::uint32_t> waiting;  // 1 while it waits for a page
  SharedWord<std::uint32_t> reserved;
  SharedWord<std::uint64_t> waiting_since_ticks;
  SharedWord<std::uint64_t> waited_ticks;  // in all, without the wait that goes on
  SharedWord<std::uint64_t> pages;         // opened: a long copy makes progress
};
static_assert(sizeof(RecorderLine) == 32);

// Writer: host. What the host itself lost of this lane, kept where a recovery finds it.
struct LaneHostWords {
  SharedWord<std::uint64_t> file_error_dropped;
  SharedWord<std::uint64_t> reserved[7];
};
static_assert(sizeof(LaneHostWords) == 64);

struct alignas(64) LaneEntry {
  LanePlan plan;
  LaneWords words;
  LaneHostWords host;
  AtLine at;
};
static_assert(sizeof(LaneEntry) == 320 && std::is_trivially_copyable_v<LaneEntry>);

}  // namespace tidemark
