// SPDX-License-Identifier: Apache-2.0
// In builds without oneTBB there is nothing to measure beside.
#include "tidemark/bench/tbb_graph.h"

namespace tidemark::bench {

double tbb_ns_per_task(const std::vector<std::vector<std::uint32_t>>&) { return 0; }

}  // namespace tidemark::bench
