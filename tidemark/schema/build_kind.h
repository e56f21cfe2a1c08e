// SPDX-License-Identifier: Apache-2.0
// How the graph is built, with the names the command line uses.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark {

enum class BuildKind : std::uint32_t {
  kTensorMap,  // tensormap_and_ringbuffer
  kExplicit,   // aicpu_build_graph
  kHostBuild,  // host_build_graph
};

struct BuildInfo {
  BuildKind kind;
  std::string_view name;
  std::string_view description;
};

inline constexpr BuildInfo kBuilds[] = {
    {BuildKind::kTensorMap, "tensormap_and_ringbuffer",
     "graph on the device, edges from access tags, memory in four rings (default)"},
    {BuildKind::kExplicit, "aicpu_build_graph", "graph on the device, explicit edges only"},
    {BuildKind::kHostBuild, "host_build_graph",
     "graph on the host before launch, whole graph resident"},
};

constexpr const BuildInfo* find_build(std::string_view name) {
  for (const auto& build : kBuilds)
    if (build.name == name) return &build;
  return nullptr;
}

}  // namespace tidemark
