// SPDX-License-Identifier: Apache-2.0
// Where in the user's source a scope or a submit is.
#pragma once

#include <cstdint>

#include "tidemark/base/host_device.h"

namespace tidemark {

struct Site {
  const char* file = "";  // without its folders
  std::uint32_t line = 0;

  TM_DEVICE static constexpr Site here(const char* file = __builtin_FILE(),
                                       std::uint32_t line = __builtin_LINE()) {
    const char* name = file;
    for (const char* at = file; *at != 0; ++at)
      if (*at == '/') name = at + 1;
    return {name, line};
  }
};

}  // namespace tidemark
