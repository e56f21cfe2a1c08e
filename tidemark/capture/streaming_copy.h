// SPDX-License-Identifier: Apache-2.0
// Copies a page into its sink and checksums it on the way. The stores are non-temporal: the
// destination is not read again soon, and the caches stay with the producers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark {

// Checksum of `head` followed by `body`, both copied to `to`. `to` and `body` are 16-byte aligned,
// sizes are multiples of 16. When this returns the bytes are visible to everybody.
std::uint64_t copy_with_checksum(unsigned char* to, const void* head, std::size_t head_bytes,
                                 const unsigned char* body, std::size_t body_bytes);

// The plain streaming copy, for comparison.
void streaming_copy(unsigned char* to, const unsigned char* from, std::size_t bytes);
void streaming_copy_done();

}  // namespace tidemark
