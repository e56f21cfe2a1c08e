// SPDX-License-Identifier: Apache-2.0
// Which clusters belong to which scheduler.
#pragma once

#include <cstdint>

#include "tidemark/schema/runtime_config.h"

namespace tidemark {

// Clusters first .. last - 1 belong to scheduler `index`.
struct ClusterRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
TM_DEVICE constexpr ClusterRange clusters_of(const RuntimeConfig& config, std::uint32_t index) {
  return {config.cluster_count * index / config.scheduler_count,
          config.cluster_count * (index + 1) / config.scheduler_count};
}
TM_DEVICE constexpr std::uint32_t scheduler_of(const RuntimeConfig& config, std::uint32_t cluster) {
  for (std::uint32_t i = 0; i + 1 < config.scheduler_count; ++i)
    if (cluster < clusters_of(config, i).last) return i;
  return config.scheduler_count - 1;
}

}  // namespace tidemark
