// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/region_words.h"

#include <algorithm>
#include <cstddef>

#include "tidemark/base/plain_text.h"

namespace tidemark {

std::vector<ClockSample> read_device_anchors(const RegionPort& port) {
  const std::uint64_t device = offsetof(RegionHeader, device);
  const std::uint32_t count =  // pairs with [anchor noted]
      std::min(port.load32(device + offsetof(RegionDeviceWords, anchor_count)), kClockAnchorsMax);
  std::vector<ClockSample> anchors;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t at =
        device + offsetof(RegionDeviceWords, anchors) + i * sizeof(ClockAnchorWords);
    anchors.push_back(
        {.device_ticks = port.load(at + offsetof(ClockAnchorWords, device_ticks)),
         .host_ns = port.load(at + offsetof(ClockAnchorWords, host_ns)),
         .real_ns = port.load(at + offsetof(ClockAnchorWords, real_ns)),
         .uncertainty_ns = port.load(at + offsetof(ClockAnchorWords, uncertainty_ns))});
  }
  return anchors;
}

NameTexts read_names(const RegionPort& port, const RegionLayout& layout) {
  NameTexts names;
  for (std::uint32_t i = 0; i < layout.shape.name_slots; ++i) {
    const std::uint64_t offset = layout.names_offset + std::uint64_t{i} * sizeof(NameSlot);
    const std::uint64_t hash = port.load(offset + offsetof(NameSlot, hash));
    // pairs with [name whole]
    const std::uint64_t length = port.load(offset + offsetof(NameSlot, length));
    if (hash == 0 || length == 0 || length > kNameTextBytes) continue;
    char text[kNameTextBytes];
    port.read(offset + offsetof(NameSlot, text), text, sizeof(text));
    names[hash] = plain_text({text, static_cast<std::size_t>(length)});
  }
  return names;
}

}  // namespace tidemark
