// SPDX-License-Identifier: Apache-2.0
// Whether two views of a buffer share elements.
#pragma once

#include <cstdint>

namespace tidemark {

enum class ViewOverlap : std::uint8_t {
  kNone,
  kCovered,  // every element of the first is an element of the second
  kPartial,  // some are, or it is not known
};

}  // namespace tidemark
