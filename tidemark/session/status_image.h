// SPDX-License-Identifier: Apache-2.0
// A copy of a runtime's status in the region; another process may be writing it.
#pragma once

#include <cstring>
#include <string>

#include "tidemark/base/plain_text.h"
#include "tidemark/collect/region_port.h"
#include "tidemark/runtime/runtime_status.h"

namespace tidemark {

using StatusImage = RuntimeStatusOf<PlainWord>;
static_assert(sizeof(StatusImage) == sizeof(RuntimeStatus) && sizeof(StatusImage) % 8 == 0);

// Zeros where the region has no runtime.
inline StatusImage read_status(const RegionPort& port, const RegionLayout& layout) {
  StatusImage image{};
  if (layout.shape.status_bytes >= sizeof(RuntimeStatus))
    // pairs with [error latched] and [crash noted]
    port.read(layout.status_offset, &image, sizeof(image));
  return image;
}

// Text of the status, where the device may have written anything.
template <std::size_t kBytes>
std::string status_text(const char (&bytes)[kBytes]) {
  return plain_text({bytes, ::strnlen(bytes, kBytes)});
}

}  // namespace tidemark
