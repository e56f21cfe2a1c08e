// SPDX-License-Identifier: Apache-2.0
// Raw deflate, as browsers inflate it by 'deflate-raw'. One object is used for many blobs: its
// memory is allocated once.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tidemark/base/expected.h"

namespace tidemark {

class RawDeflate {
 public:
  RawDeflate();
  ~RawDeflate();
  RawDeflate(RawDeflate&&) noexcept;
  RawDeflate& operator=(RawDeflate&&) noexcept;

  // Valid until the next call.
  std::span<const unsigned char> compress(std::span<const unsigned char> bytes);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  std::vector<unsigned char> out_;
};

// The reverse, of bytes that may be anything; an error if they are damaged or inflate to more than
// `most` bytes.
Expected<std::vector<unsigned char>> inflate_raw(std::span<const unsigned char> bytes,
                                                 std::size_t most);

}  // namespace tidemark
