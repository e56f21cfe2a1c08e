// SPDX-License-Identifier: Apache-2.0
#include "tidemark/collect/rescue.h"

#include "tidemark/base/wait_until.h"

namespace tidemark {

bool wait_until_rescued(RegionPort& port, std::uint32_t timeout_ms) {
  port.store32(offsetof(RegionHeader, host.rescue), 1);  // [rescue asked]
  // pairs with [rescued]
  const auto rescued = [&] { return port.load32(offsetof(RegionHeader, device.rescued)) != 0; };
  return wait_until(rescued, timeout_ms, 1);
}

bool wait_until_snapped(RegionPort& port, bool ask, std::uint32_t timeout_ms) {
  // pairs with [snapped]
  const auto snapped = [&] { return port.load32(offsetof(RegionHeader, device.snapped)) != 0; };
  if (!ask) return snapped();
  port.store32(offsetof(RegionHeader, host.snapshot), 1);  // [snapshot asked]
  return wait_until(snapped, timeout_ms, 1);
}

bool wait_until_core_dumped(RegionPort& port, std::uint32_t timeout_ms) {
  port.store32(offsetof(RegionHeader, host.core), 1);  // [core asked]
  // pairs with [core told]
  const auto told = [&] { return port.load32(offsetof(RegionHeader, device.core)); };
  return wait_until([&] { return told() != 0; }, timeout_ms, 1) && told() == kCoreWritten;
}

}  // namespace tidemark
