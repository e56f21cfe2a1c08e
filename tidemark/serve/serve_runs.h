// SPDX-License-Identifier: Apache-2.0
// `tidemark serve`: a server of runs for the browsers of this machine, until it is told to stop.
#pragma once

#include <functional>
#include <string>

#include "tidemark/serve/connection_loop.h"
#include "tidemark/serve/tile_making.h"

namespace tidemark {

struct ServeOptions {
  std::string path;   // a run, or a folder of runs
  std::string other;  // a run to compare with; empty: none
  std::uint16_t port = 0;
  std::string cache;  // folder for tiles; empty: the temporary folder
  TileMaking making;
  LoopLimits limits = {};
};

// `listening` gets the whole address, before the first request is answered. Returns once `stop_fd`
// is readable.
Expected<void> serve_runs(const ServeOptions& options, int stop_fd,
                          const std::function<void(const std::string& address)>& listening);

}  // namespace tidemark
