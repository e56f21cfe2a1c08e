// SPDX-License-Identifier: Apache-2.0
// Test support: page headers and lane words by hand.
#pragma once

#include <cstdint>

#include "tidemark/transport/lane.h"
#include "tidemark/transport/page.h"

namespace tidemark {

inline PageHeaderImage page_of(std::uint64_t sequence, std::uint64_t first_number,
                               std::uint64_t count) {
  PageHeaderImage header{};
  header.sequence = sequence;
  header.generation = 1;
  header.record_bytes = 32;
  header.first_number = first_number;
  header.record_count = count;
  header.used_bytes = static_cast<std::uint32_t>(count * 32);
  header.first_frame_offset = kNoFrame;
  return header;
}

// A framed page: `frames` end in it; it begins with the rest of a frame or with a new one.
inline PageHeaderImage framed_page(std::uint64_t sequence, std::uint64_t first_number,
                                   std::uint64_t frames, bool begins_with_rest) {
  PageHeaderImage header = page_of(sequence, first_number, frames);
  header.record_bytes = 0;
  header.used_bytes = 512;
  header.first_frame_offset = begins_with_rest ? (frames > 0 ? 64 : kNoFrame) : 0;
  return header;
}

inline LaneWordsImage closed_words(std::uint64_t attempted) {
  LaneWordsImage words{};
  words.state = LaneState::kClosed;
  words.attempted = attempted;
  return words;
}

}  // namespace tidemark
