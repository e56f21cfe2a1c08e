// SPDX-License-Identifier: Apache-2.0
// Body of a copy kernel, for the instruction set its source is compiled for. Everything is in an
// unnamed namespace: two kernels must never share a function.
#pragma once

#include <string.h>

#include "tidemark/capture/copy_kernel.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tidemark {
namespace {

// Copies 64 bytes with stores that leave the caches alone. `to` is 64-byte aligned.
inline void stream_line(unsigned char* to, const unsigned char* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX2__)
  const auto* source = reinterpret_cast<const __m256i*>(from);
  const __m256i a = _mm256_loadu_si256(source), b = _mm256_loadu_si256(source + 1);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), a);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + 1, b);
#elif defined(__SSE2__)
  const auto* source = reinterpret_cast<const __m128i*>(from);
  auto* target = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1),
                c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
  _mm_stream_si128(target, a);
  _mm_stream_si128(target + 1, b);
  _mm_stream_si128(target + 2, c);
  _mm_stream_si128(target + 3, d);
#else
  ::memcpy(to, from, 64);
#endif
}

// The processor's own look-ahead ends where a page of memory ends: at the beginning of one, asks
// for the beginning of the next, so that neither its address nor its first lines are waited for. To
// ask for every line ahead is slower than not to ask.
inline void look_ahead(const unsigned char* from, const unsigned char* end) {
  constexpr std::uintptr_t kPage = 4096, kBlock = 1024;
  const std::uintptr_t in_page = reinterpret_cast<std::uintptr_t>(from) % kPage;
  if (in_page >= kBlock || static_cast<std::size_t>(end - from) < 2 * kPage) return;
  for (unsigned line = 0; line < 4; ++line)
    __builtin_prefetch(from - in_page + kPage + std::size_t{line} * 64);
}

inline bool on_line(const void* at) { return (reinterpret_cast<std::uintptr_t>(at) & 63) == 0; }

inline void copy_bytes(unsigned char* to, const unsigned char* from, std::size_t bytes) {
  std::size_t at = 0;
  if (on_line(to))
    for (; at + 64 <= bytes; at += 64) stream_line(to + at, from + at);
  if (at < bytes) ::memcpy(to + at, from + at, bytes - at);
}

// These functions are xxHash's own: the build looks whether this version has them as they are used
// here. Without them the sum is taken in a second pass.
#if defined(TIDEMARK_XXHASH_INTERNALS)
// The order in which XXH3 takes a long input: stripes of 64 bytes, sixteen to a block with a
// scramble behind it, and the last 64 bytes once more at the end. Each stripe is stored the moment
// it is in a register, so that the arithmetic hides behind the memory.
class StripeSum {
 public:
  explicit StripeSum(std::uint64_t total_bytes) : total_bytes_(total_bytes) {
    const XXH64_hash_t start[XXH_ACC_NB] = XXH3_INIT_ACC;
    ::memcpy(sums_, start, sizeof(sums_));
  }
  inline void take(const unsigned char* stripe) {
    XXH3_accumulate_512(sums_, stripe, XXH3_kSecret + in_block_ * XXH_SECRET_CONSUME_RATE);
    if (++in_block_ < kStripesPerBlock) return;
    XXH3_scrambleAcc(sums_, XXH3_kSecret + XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN);
    in_block_ = 0;
  }
  // A whole block that begins here.
  inline void take_block(unsigned char* to, const unsigned char* from) {
    for (unsigned i = 0; i < kStripesPerBlock; ++i) {
      XXH3_accumulate_512(sums_, from + i * 64, XXH3_kSecret + i * XXH_SECRET_CONSUME_RATE);
      stream_line(to + i * 64, from + i * 64);
    }
    XXH3_scrambleAcc(sums_, XXH3_kSecret + XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN);
  }
  [[nodiscard]] bool at_block() const { return in_block_ == 0; }
  inline std::uint64_t finish(const unsigned char* last_stripe) {
    XXH3_accumulate_512(
        sums_, last_stripe,
        XXH3_kSecret + XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN - XXH_SECRET_LASTACC_START);
    return XXH3_mergeAccs(sums_, XXH3_kSecret + XXH_SECRET_MERGEACCS_START,
                          total_bytes_ * XXH_PRIME64_1);
  }

  static constexpr unsigned kStripesPerBlock =
      (XXH_SECRET_DEFAULT_SIZE - XXH_STRIPE_LEN) / XXH_SECRET_CONSUME_RATE;

 private:
  alignas(64) XXH64_hash_t sums_[XXH_ACC_NB];
  std::uint64_t total_bytes_;
  unsigned in_block_ = 0;
};

// The body in stripes; `to` is after the head, on a line.
inline std::uint64_t sum_stripes(unsigned char* to, const void* head, std::size_t head_bytes,
                                 const unsigned char* body, std::size_t body_bytes) {
  const std::size_t total_bytes = head_bytes + body_bytes;
  StripeSum sum(total_bytes);
  for (std::size_t at = 0; at < head_bytes; at += 64)
    sum.take(static_cast<const unsigned char*>(head) + at);
  std::size_t left = (total_bytes - 1) / 64 - head_bytes / 64;  // stripes of the body
  const unsigned char* from = body;
  while (left > 0) {
    if (sum.at_block() && left >= StripeSum::kStripesPerBlock) {
      look_ahead(from, body + body_bytes);
      sum.take_block(to, from);
      from += 64 * StripeSum::kStripesPerBlock;
      to += 64 * StripeSum::kStripesPerBlock;
      left -= StripeSum::kStripesPerBlock;
      continue;
    }
    sum.take(from);
    stream_line(to, from);
    from += 64;
    to += 64;
    --left;
  }
  copy_bytes(to, from, static_cast<std::size_t>(body + body_bytes - from));
  return sum.finish(body + body_bytes - 64);
}
#endif

inline std::uint64_t sum_of(const void* head, std::size_t head_bytes, const unsigned char* body,
                            std::size_t body_bytes) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, head, head_bytes);
  if (body_bytes > 0) XXH3_64bits_update(&state, body, body_bytes);
  return XXH3_64bits_digest(&state);
}

inline std::uint64_t sum_and_copy(unsigned char* to, const void* head, std::size_t head_bytes,
                                  const unsigned char* body, std::size_t body_bytes) {
  ::memcpy(to, head, head_bytes);
  to += head_bytes;
#if defined(TIDEMARK_XXHASH_INTERNALS)
  if (head_bytes % 64 == 0 && body_bytes >= 512 && on_line(to))
    return sum_stripes(to, head, head_bytes, body, body_bytes);
#endif
  copy_bytes(to, body, body_bytes);
  return sum_of(head, head_bytes, body, body_bytes);
}

}  // namespace
}  // namespace tidemark
