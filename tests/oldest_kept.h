// SPDX-License-Identifier: Apache-2.0
// Which number a keep-last lane must still hold as its oldest, worked out from what was written
// into it: records of one size, or frames laid out as the producer does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tidemark/transport/fragment.h"

namespace tidemark {

// One answer, or two around a page switch: a producer that was cut off may have begun to reopen its
// oldest page.
struct OldestKept {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

inline OldestKept oldest_record(std::uint64_t per_page, std::uint64_t keep_pages,
                                std::uint64_t produced, bool closed) {
  const auto oldest = [&](std::uint64_t pages) {
    return pages > keep_pages ? (pages - keep_pages) * per_page : 0;
  };
  const std::uint64_t pages = (produced + per_page - 1) / per_page;
  const bool may_have_turned = !closed && produced > 0 && produced % per_page == 0;
  return {oldest(pages), oldest(may_have_turned ? pages + 1 : pages)};
}

// Where each frame begins, in pages from 1.
struct FrameLayout {
  std::vector<std::uint64_t> first_page;
  std::uint64_t pages = 0;
  std::uint64_t room = 0;  // left in the last page

  void add(std::uint64_t frame_bytes, std::uint64_t payload_bytes) {
    std::uint64_t left = frame_bytes;
    for (bool begin = true; begin || left > 0; begin = false) {
      if (room < kFragmentHeaderBytes + 16) {
        ++pages;
        room = payload_bytes;
      }
      if (begin) first_page.push_back(pages);
      const std::uint64_t length = std::min(left, room - kFragmentHeaderBytes);
      room -= fragment_span(length);
      left -= length;
    }
  }
  // The first frame that a lane of so many pages still has whole after it opened `opened`.
  [[nodiscard]] std::uint64_t oldest(std::uint64_t keep_pages, std::uint64_t opened) const {
    std::uint64_t frame = 0;
    while (frame < first_page.size() && first_page[frame] + keep_pages <= opened) ++frame;
    return frame;
  }
};

}  // namespace tidemark
