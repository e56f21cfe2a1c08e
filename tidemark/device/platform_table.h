// SPDX-License-Identifier: Apache-2.0
// The one table of platforms. A platform is a row here plus a device; nothing else in the project
// depends on a platform's name.
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tidemark {

enum class DeviceKind { kSimulated, kCuda };

// How the host reaches the region.
enum class Transport {
  kMapped,  // reads it in place
  kCopied,  // has no mapping: positional reads, and writes of the words it owns
  kPulled,  // reads in place what the device process pulls out of the device's own memory
};

struct Platform {
  std::string_view name;
  DeviceKind device;
  Transport transport;
  std::uint32_t cluster_count;  // of 1 AIC + 2 AIV; 0: sized to the machine
  std::uint32_t scheduler_count;
  std::uint32_t op_timeout_ms;  // unless asked otherwise; 0: none
  std::string_view description;
};

// Those of the table, or as many as this machine has processors for.
std::uint32_t cluster_count_of(const Platform& platform);

std::span<const Platform> platforms();
const Platform& default_platform();
// The first of a kind.
const Platform& platform_of(DeviceKind kind);
const Platform* find_platform(std::string_view name);
std::string_view to_text(Transport transport);

}  // namespace tidemark
