// SPDX-License-Identifier: Apache-2.0
// Reads a page that its producer may still be filling. A producer stores a stamp after the rest of
// its quantum and a commit after its fragment, but one copy of the page may meet them in the other
// order. Two copies settle it: what the first finds stamped or committed is complete in the second,
// and nothing else of the second is believed. For whoever copies pages: the host, and the process
// that pulls them out of a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "tidemark/schema/stamp.h"
#include "tidemark/transport/fragment.h"
#include "tidemark/transport/page.h"

namespace tidemark {

// Clears every stamp of `payload` that the copy before it does not have.
inline void keep_stamped(std::uint32_t generation, const unsigned char* before,
                         std::span<unsigned char> payload) {
  for (std::uint64_t at = kStampOffset; at < payload.size(); at += kQuantumBytes) {
    Stamp stamp;
    std::memcpy(&stamp, before + at, sizeof(stamp));
    if (stamp != generation) std::memset(payload.data() + at, 0, sizeof(stamp));
  }
}

// Ends `payload` after the last fragment that the copy before it has. Returns where the first
// frame begins.
inline std::uint64_t keep_committed(std::uint32_t generation, const unsigned char* before,
                                    std::span<unsigned char> payload) {
  std::uint64_t first_frame_offset = kNoFrame;
  for (std::uint64_t at = 0; payload.size() - at >= kFragmentHeaderBytes;) {
    FragmentImage image;
    std::memcpy(&image, before + at, sizeof(image));
    const FragmentCommit commit = decode_commit(image.commit);
    if (commit.generation != generation) {
      std::memset(payload.data() + at + offsetof(FragmentImage, commit), 0, sizeof(image.commit));
      break;
    }
    if (commit.first && first_frame_offset == kNoFrame) first_frame_offset = at;
    if (fragment_span(commit.length) > payload.size() - at) break;
    at += fragment_span(commit.length);
  }
  return first_frame_offset;
}

// `header` is of an open page, copied before `before`; `payload` was copied after it. The header's
// word about the first frame is younger or older than the copies, so it is made to agree with them.
inline void settle_open_page(PageHeaderImage& header, const unsigned char* before,
                             std::span<unsigned char> payload) {
  if (header.record_bytes != 0) return keep_stamped(header.generation, before, payload);
  header.first_frame_offset = keep_committed(header.generation, before, payload);
}

}  // namespace tidemark
