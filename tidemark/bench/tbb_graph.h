// SPDX-License-Identifier: Apache-2.0
// The same graph on oneTBB, to measure beside.
#pragma once

#include <cstdint>
#include <vector>

namespace tidemark::bench {

// Builds a flow graph of empty nodes with these edges, runs it, and says what a node took; 0 in
// builds without oneTBB.
double tbb_ns_per_task(const std::vector<std::vector<std::uint32_t>>& predecessors);

}  // namespace tidemark::bench
