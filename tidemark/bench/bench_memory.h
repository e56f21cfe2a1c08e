// SPDX-License-Identifier: Apache-2.0
// The memory of a runtime that is measured, and its status. It is touched before it is measured:
// a device's memory is simply there.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "tidemark/base/mapped_memory.h"
#include "tidemark/runtime/runtime_memory.h"

namespace tidemark::bench {

class BenchMemory {
 public:
  // With large pages, as a GPU has them, what is measured is not the reach of the processor's TLB.
  explicit BenchMemory(const RuntimeConfig& config, bool large_pages = false)
      : layout_(lay_out(config)),
        pages_(layout_.total_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE),
        lines_(status_bytes(config.units()) / sizeof(UnitProgress) + 1) {
    TM_CHECK(pages_.valid());
    if (large_pages) ::madvise(pages_.base(), layout_.total_bytes, MADV_HUGEPAGE);
    unsigned char* bytes = pages_.data();
    for (const std::uint32_t ring : {0u, 1u}) {
      const RingLayout& place = layout_.rings[ring];
      std::fill(bytes + place.slots_offset, bytes + place.heap_offset, 0);
    }
    std::fill(bytes, bytes + layout_.rings[0].slots_offset, 0);
    std::memset(static_cast<void*>(lines_.data()), 0, lines_.size() * sizeof(UnitProgress));
  }
  [[nodiscard]] RuntimeMemory memory() const { return {pages_.base(), layout_}; }
  [[nodiscard]] RuntimeStatus* status() { return reinterpret_cast<RuntimeStatus*>(lines_.data()); }

 private:
  RuntimeLayout layout_;
  MappedMemory pages_;
  std::vector<UnitProgress> lines_;
};

}  // namespace tidemark::bench
