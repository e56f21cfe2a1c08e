// SPDX-License-Identifier: Apache-2.0
// The three ways to build a graph, by name. They share one orchestrator: RuntimeConfig says where
// edges come from and whether what is consumed is given back.
#pragma once

#include <string_view>

#include "tidemark/runtime/runtime_config.h"

namespace tidemark {

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
