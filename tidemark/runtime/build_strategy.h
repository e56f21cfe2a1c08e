// SPDX-License-Identifier: Apache-2.0
// The three ways to build a graph. They share one orchestrator; a strategy says where its edges
// come from and whether what is consumed is given back.
#pragma once

#include <string_view>

#include "tidemark/runtime/runtime_config.h"

namespace tidemark {

// tensormap_and_ringbuffer: on the device, edges from access tags, memory in rings.
struct TensorMapBuild {
  static constexpr BuildKind kKind = BuildKind::kTensorMap;
  static constexpr bool kAutomatic = true;
  static constexpr bool kReclaims = true;
};

// aicpu_build_graph: on the device, explicit edges only; tags say what memory is used.
struct ExplicitBuild {
  static constexpr BuildKind kKind = BuildKind::kExplicit;
  static constexpr bool kAutomatic = false;
  static constexpr bool kReclaims = true;
};

// host_build_graph: on the host before launch; everything stays.
struct HostBuild {
  static constexpr BuildKind kKind = BuildKind::kHostBuild;
  static constexpr bool kAutomatic = true;
  static constexpr bool kReclaims = false;
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
