// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/region_words.h"

#include <algorithm>
#include <cstddef>

#include "tidemark/base/plain_text.h"

namespace tidemark {

ProcessIdentity device_of(const RegionPort& port) {
  return {.pid = port.load32(offsetof(RegionHeader, device.device_pid)),
          .start_time = port.load(offsetof(RegionHeader, device.device_start_time))};
}

std::vector<ClockSample> read_device_anchors(const RegionPort& port) {
  const std::uint32_t count =  // pairs with [anchor noted]
      std::min(port.load32(offsetof(RegionHeader, device.anchor_count)), kClockAnchorsMax);
  std::vector<ClockSample> anchors(count);
  static_assert(sizeof(ClockSample) == sizeof(ClockAnchorWords));
  port.read(offsetof(RegionHeader, device.anchors), anchors.data(), count * sizeof(ClockSample));
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
