// SPDX-License-Identifier: Apache-2.0
#include "tidemark/collect/rescue.h"

#include "tidemark/base/monotonic_clock.h"

namespace tidemark {
namespace {

constexpr long kLookEveryNs = 1'000'000;

}  // namespace

bool wait_until_rescued(RegionPort& port, std::uint32_t timeout_ms) {
  port.store32(offsetof(RegionHeader, host.rescue), 1);  // [rescue asked]
  const std::uint64_t end_ns = monotonic_ns() + timeout_ms * 1'000'000ull;
  while (port.load32(offsetof(RegionHeader, device.rescued)) == 0) {  // pairs with [rescued]
    if (monotonic_ns() >= end_ns) return false;
    sleep_ns(kLookEveryNs);
  }
  return true;
}

}  // namespace tidemark
