// SPDX-License-Identifier: Apache-2.0
// The region's line for people: what the device process says went wrong.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "tidemark/transport/region.h"

namespace tidemark {

inline void write_fault(RegionHeader& header, std::string_view text) {
  const std::size_t bytes = std::min<std::size_t>(text.size(), kFaultTextBytes - 1);
  std::memcpy(header.fault_text, text.data(), bytes);
  header.device.fault_bytes.store_release(static_cast<std::uint32_t>(bytes));  // [fault written]
}

}  // namespace tidemark
