// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/platform_table.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "tidemark/schema/core_type.h"

namespace tidemark {
namespace {

constexpr Platform kPlatforms[] = {
    {"sim", DeviceKind::kSimulated, Transport::kMapped, 0, 1, 0,
     "simulated device, sized to the machine"},
    {"a2a3sim", DeviceKind::kSimulated, Transport::kMapped, 24, 3, 0,
     "simulated device, 24 clusters of 1 AIC + 2 AIV, 3 schedulers"},
    {"a5sim", DeviceKind::kSimulated, Transport::kCopied, 36, 4, 0,
     "simulated device, 36 clusters of 1 AIC + 2 AIV, 4 schedulers, no mapping of device memory"},
    {"cuda", DeviceKind::kCuda, Transport::kMapped, 0, 1, 600'000,
     "NVIDIA GPU; its kernel writes into host memory"},
    {"cuda-copy", DeviceKind::kCuda, Transport::kPulled, 0, 1, 600'000,
     "NVIDIA GPU; pages stay in its memory and are pulled from there"},
};

}  // namespace

// One processor each for orchestrator and scheduler, but at least one cluster: threads that have no
// processor only take turns.
std::uint32_t cluster_count_of(const Platform& platform) {
  if (platform.cluster_count > 0) return platform.cluster_count;
  const std::uint32_t processors = std::thread::hardware_concurrency();
  return processors < 2 + kCoresPerCluster ? 1 : (processors - 2) / kCoresPerCluster;
}

std::span<const Platform> platforms() { return kPlatforms; }

const Platform& default_platform() { return kPlatforms[0]; }

const Platform& platform_of(DeviceKind kind) {
  return *std::ranges::find(kPlatforms, kind, &Platform::device);  // there is one of each
}

const Platform* find_platform(std::string_view name) {
  const auto* found = std::ranges::find(kPlatforms, name, &Platform::name);
  return found == std::end(kPlatforms) ? nullptr : found;
}

std::string_view to_text(Transport transport) {
  return transport == Transport::kMapped ? "mapped" : "copied";
}

}  // namespace tidemark
