// SPDX-License-Identifier: Apache-2.0
// What the orchestrator may have to wait for.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class Resource : std::uint32_t {
  kNone,
  kTaskWindow,
  kHeap,
  kDepPool,
  kFanin,
  kTensorMap,
  kArguments,
};
inline constexpr std::uint32_t kResourceCount = 7;

constexpr std::string_view to_text(Resource resource) {
  return enum_text(
      resource, Resource::kNone,
      {"none", "task window", "heap", "dependency pool", "fanin", "tensor map", "arguments"});
}

// The flag that sets its size.
constexpr const char* resource_flag(Resource resource) {
  switch (resource) {
    case Resource::kTaskWindow:
      return "--ring-task-window";
    case Resource::kHeap:
      return "--ring-heap";
    case Resource::kDepPool:
    case Resource::kFanin:
      return "--ring-dep-pool";
    case Resource::kTensorMap:
      return "--tensormap-pool";
    case Resource::kArguments:
      return "--ring-args";
    case Resource::kNone:
      break;
  }
  return "--help";
}

}  // namespace tidemark
