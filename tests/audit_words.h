// SPDX-License-Identifier: Apache-2.0
// The counts that an audited run keeps of its accepted records: a file of one word per lane.
#pragma once

#include <cstdint>

namespace tidemark {

inline constexpr std::uint32_t kAuditLanes = 1024;

}  // namespace tidemark
