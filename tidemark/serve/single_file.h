// SPDX-License-Identifier: Apache-2.0
// A run as one HTML file with everything inside: page, script, and its tile set.
#pragma once

#include <functional>
#include <string>

#include "tidemark/serve/tile_making.h"

namespace tidemark {

struct SingleFile {
  std::string run;
  std::string other;  // to compare with; empty: none
  std::string path;   // of the file
  std::uint64_t max_bytes = 64ull << 20;
};

struct SingleFileSize {
  std::uint64_t bytes = 0;       // of the file
  std::uint64_t page_bytes = 0;  // of that, what is not of the runs
  std::uint64_t blobs = 0;
};

// `before_writing` gets the exact size, as soon as it is known. A file that would be larger than
// max_bytes is not begun: kUsage.
Expected<void> write_single_file(const SingleFile& file, const TileMaking& making,
                                 const std::function<void(const SingleFileSize&)>& before_writing);

}  // namespace tidemark
