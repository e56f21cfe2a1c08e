// SPDX-License-Identifier: Apache-2.0
// The cores of a device: clusters of one AIC and two AIV.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/base/host_device.h"
#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class CoreType : std::uint8_t { kAic, kAiv };

constexpr std::string_view to_text(CoreType type) {
  return enum_text(type, CoreType::kAic, {"aic", "aiv"});
}

inline constexpr std::uint32_t kCoresPerCluster = 3;

// Bit per core of a cluster.
TM_DEVICE constexpr std::uint32_t parts_of(CoreType type) { return type == CoreType::kAic ? 1 : 6; }
inline constexpr std::uint32_t kAivPerCluster = 2;

// Cores are numbered cluster by cluster: AIC, AIV0, AIV1.
TM_DEVICE constexpr std::uint32_t core_number(std::uint32_t cluster, std::uint32_t place) {
  return cluster * kCoresPerCluster + place;
}
TM_DEVICE constexpr CoreType core_type(std::uint32_t core) {
  return core % kCoresPerCluster == 0 ? CoreType::kAic : CoreType::kAiv;
}
TM_DEVICE constexpr std::uint32_t cores_in_cluster(CoreType type) {
  return type == CoreType::kAic ? 1 : kAivPerCluster;
}

}  // namespace tidemark
