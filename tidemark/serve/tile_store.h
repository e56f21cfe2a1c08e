// SPDX-License-Identifier: Apache-2.0
// What answers for the names of one tile set. The server knows no more of a run than this.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tidemark/serve/request_check.h"

namespace tidemark {

class TileStore {
 public:
  virtual ~TileStore() = default;
  // Any thread, and at once: what is not made yet is said to be so. `name` is one of a tile.
  virtual Reply answer(std::string_view name, const std::string& if_none_match) = 0;
};

// Answers of every kind.
Reply json_reply(std::string text);
Reply refusal_reply(int status);

}  // namespace tidemark
