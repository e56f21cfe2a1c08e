// SPDX-License-Identifier: Apache-2.0
// What is at each address of a server: the page, its two files, the list of runs, and the tile
// sets.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tidemark/serve/page_text.h"
#include "tidemark/serve/tile_store.h"

namespace tidemark {

class Site {
 public:
  struct Options {
    Gate gate;
    PageSetup page;
    std::function<std::shared_ptr<TileStore>(const std::string& key)> find;  // null: no such run
    std::function<std::string()> list;  // none: there is no list
  };
  explicit Site(Options options);

  // Any thread.
  [[nodiscard]] Reply answer(const Request& request) const;

 private:
  [[nodiscard]] Reply answer_path(std::string_view path, const Request& request) const;

  Options options_;
  std::string page_;
};

}  // namespace tidemark
