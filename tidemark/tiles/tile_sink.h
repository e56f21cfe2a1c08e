// SPDX-License-Identifier: Apache-2.0
// Where the blobs of a tile set go: a folder, one HTML file, the cache of a server. Names are
// relative paths of [a-z0-9/.-]. All blobs but index.json are compressed already.
#pragma once

#include <span>
#include <string_view>

#include "tidemark/base/expected.h"

namespace tidemark {

class TileSink {
 public:
  virtual ~TileSink() = default;

  // Called by one thread at a time. index.json comes last. Before it a name may come a second time:
  // the newer bytes count.
  virtual Expected<void> put(std::string_view name, std::span<const unsigned char> bytes) = 0;

  Expected<void> put_text(std::string_view name, std::string_view text) {
    return put(name, {reinterpret_cast<const unsigned char*>(text.data()), text.size()});
  }
};

}  // namespace tidemark
