// SPDX-License-Identifier: Apache-2.0
// How a task uses a tensor.
#pragma once

#include <cstdint>

namespace tidemark {

enum class Access : std::uint8_t {
  kInput,
  kOutput,          // the runtime allocates it
  kOutputExisting,  // written whole, memory of somebody else
  kInout,
  kNoDep,  // waits for its creator only
};

}  // namespace tidemark
