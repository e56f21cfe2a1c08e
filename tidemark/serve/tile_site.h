// SPDX-License-Identifier: Apache-2.0
// A run as a folder of files that any web server can host: page, script, style, and a tile set per
// run. It holds nothing that is private to this machine but the run itself.
#pragma once

#include <string>

#include "tidemark/serve/tile_making.h"

namespace tidemark {

struct TileSite {
  std::string run;
  std::string other;   // to compare with; empty: none
  std::string folder;  // new, empty, or an earlier site, whose runs are replaced
};

struct TileSiteSize {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// Until all tiles are made an earlier site stays as it was.
Expected<TileSiteSize> write_tile_site(const TileSite& site, const TileMaking& making);

}  // namespace tidemark
