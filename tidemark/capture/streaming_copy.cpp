// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/streaming_copy.h"

#define XXH_INLINE_ALL
#include <algorithm>
#include <cstring>

#include <xxhash.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tidemark/capture/chunk.h"

namespace tidemark {
namespace {

// Small enough that the copy finds in the first-level cache what the checksum has just read.
constexpr std::size_t kBlockBytes = 4096;

}  // namespace

std::uint64_t checksum(const void* data, std::size_t bytes) { return XXH3_64bits(data, bytes); }

std::uint64_t checksum_of_header(const ChunkHeader& header) {
  return XXH3_64bits(&header, offsetof(ChunkHeader, header_checksum));
}

void streaming_copy(unsigned char* to, const unsigned char* from, std::size_t bytes) {
#if defined(__SSE2__)
  std::size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    const __m128i a = _mm_load_si128(source), b = _mm_load_si128(source + 1),
                  c = _mm_load_si128(source + 2), d = _mm_load_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  if (at < bytes) std::memcpy(to + at, from + at, bytes - at);
#else
  std::memcpy(to, from, bytes);
#endif
}

void streaming_copy_done() {
#if defined(__SSE2__)
  _mm_sfence();  // streaming stores are not ordered by the release that follows
#endif
}

std::uint64_t copy_with_checksum(unsigned char* to, const void* head, std::size_t head_bytes,
                                 const unsigned char* body, std::size_t body_bytes) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, head, head_bytes);
  std::memcpy(to, head, head_bytes);
  to += head_bytes;
  for (std::size_t at = 0; at < body_bytes; at += kBlockBytes) {
    const std::size_t part = std::min(kBlockBytes, body_bytes - at);
    XXH3_64bits_update(&state, body + at, part);
    streaming_copy(to + at, body + at, part);
  }
  streaming_copy_done();
  return XXH3_64bits_digest(&state);
}

}  // namespace tidemark
