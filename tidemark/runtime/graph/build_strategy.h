// SPDX-License-Identifier: Apache-2.0
// The three ways to build a graph. They share one orchestrator; a strategy says where its edges
// come from and whether what is consumed is given back.
#pragma once

#include "tidemark/schema/build_kind.h"

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

}  // namespace tidemark
