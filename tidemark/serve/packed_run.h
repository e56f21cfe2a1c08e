// SPDX-License-Identifier: Apache-2.0
// A run's whole tile set, made at once into any sink: for a single file or a folder of files.
#pragma once

#include <string>

#include "tidemark/run/run_report.h"
#include "tidemark/serve/tile_making.h"

namespace tidemark {

// A run without a capture has an index.json that says so, and its autopsy if it hung. Returns its
// title.
Expected<std::string> pack_run(const std::string& directory, const TileMaking& making,
                               TileSink& sink);

}  // namespace tidemark
