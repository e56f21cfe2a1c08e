// SPDX-License-Identifier: Apache-2.0
// The last thing a host asks of a device that keeps its pages and does not end: to bring over what
// no lane has published, once, and to touch nothing afterwards. For platforms whose pages are
// pulled; called when the host has given up waiting and before it reads what is left.
#pragma once

#include <cstdint>

#include "tidemark/collect/region_port.h"

namespace tidemark {

inline constexpr std::uint32_t kRescueMs = 2000;

// False: no answer in time. Then what is left is read as it is.
bool wait_until_rescued(RegionPort& port, std::uint32_t timeout_ms);

// Whether the host's image of a GPU's memory has the state of its tasks; where `ask`, its process
// is asked for it first.
bool wait_until_snapped(RegionPort& port, bool ask, std::uint32_t timeout_ms);

// Asks a GPU's process for a core dump of what still runs. False: there is none in time.
bool wait_until_core_dumped(RegionPort& port, std::uint32_t timeout_ms);

}  // namespace tidemark
