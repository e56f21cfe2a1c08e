// SPDX-License-Identifier: Apache-2.0
// Test support: looks at /proc/self/maps after every mapping that the test's process makes.
#pragma once

#include <atomic>
#include <cstdint>

namespace tidemark {

extern std::atomic<bool> watches_mappings;
extern std::atomic<std::uint32_t> mappings_seen, device_memory_seen;

}  // namespace tidemark
