// SPDX-License-Identifier: Apache-2.0
#include "tidemark/bench/tbb_graph.h"

#include <deque>

#include <tbb/flow_graph.h>

#include "tidemark/base/monotonic_clock.h"

namespace tidemark::bench {

double tbb_ns_per_task(const std::vector<std::vector<std::uint32_t>>& predecessors) {
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  const auto nothing = [](const tbb::flow::continue_msg& message) { return message; };
  const std::uint64_t begin_ns = monotonic_ns();
  tbb::flow::graph graph;
  std::deque<Node> nodes;
  for (std::size_t i = 0; i < predecessors.size(); ++i) nodes.emplace_back(graph, nothing);
  for (std::size_t i = 0; i < predecessors.size(); ++i)
    for (const std::uint32_t before : predecessors[i])
      tbb::flow::make_edge(nodes[before], nodes[i]);
  for (std::size_t i = 0; i < predecessors.size(); ++i)
    if (predecessors[i].empty()) nodes[i].try_put({});
  graph.wait_for_all();
  return static_cast<double>(monotonic_ns() - begin_ns) / static_cast<double>(predecessors.size());
}

}  // namespace tidemark::bench
