// SPDX-License-Identifier: Apache-2.0
// The region: everything the two sides share, self-describing and identical on every platform.
// The header says what the region is and carries the words that concern the whole run; RegionView
// is how device code finds its way in a mapped region.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tidemark/transport/lane.h"
#include "tidemark/transport/name_table.h"
#include "tidemark/transport/page_ring.h"
#include "tidemark/transport/region_layout.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

inline constexpr std::uint64_t kRegionMagic = 0x314745524B524D54ull;  // "TMRKREG1"
inline constexpr std::uint32_t kRegionAbiVersion = 1;
inline constexpr std::uint32_t kDrainThreadsMax = 16;

// Writer: host, before any other process sees the region. Constant afterwards.
struct RegionIdentity {
  std::uint64_t magic;
  std::uint32_t abi_version;
  std::uint32_t header_bytes;
  std::uint64_t total_bytes;
  std::uint64_t run_id;
  std::uint32_t rank;
  std::uint32_t device;
  std::uint32_t lane_count;  // planned before launch; the rest may be opened at run time
  std::uint32_t drain_threads;
  RegionShape shape;
  std::uint32_t pool_page_count;  // pages 0 .. pool_page_count - 1 circulate
  std::uint64_t drain_timeout_ticks;
  std::uint64_t ticks_per_second;
  std::uint32_t host_pid;
  std::uint32_t reserved;
  std::uint64_t host_start_time;  // in clock ticks since boot, as the kernel counts it
};

// Writer: host.
struct RegionHostWords {
  SharedWord<std::uint32_t> abort;  // 1: the run is to end now
  SharedWord<std::uint32_t> reserved;
  SharedWord<std::uint64_t> drained_pages[kDrainThreadsMax];  // one per drain thread
};

// Writer: the device process (its own threads agree who).
struct RegionDeviceWords {
  SharedWord<std::uint32_t> device_pid;
  SharedWord<std::uint32_t> host_gone;  // 1: the host process died
  SharedWord<std::uint64_t> device_start_time;
  SharedWord<std::uint64_t> launch_ticks;  // the epoch of all times
  SharedWord<std::uint64_t> finish_ticks;
};

// Writer: host, before any other process sees the region: where the run's files are.
inline constexpr std::uint32_t kRunDirectoryBytes = 2048;

struct RegionHeader {
  RegionIdentity identity;
  alignas(256) RegionHostWords host;
  alignas(256) RegionDeviceWords device;
  alignas(256) char run_directory[kRunDirectoryBytes];
};
static_assert(sizeof(RegionHeader) <= kRegionHeaderBytes);
static_assert(offsetof(RegionHeader, host) == 256 && offsetof(RegionHeader, device) == 512);

class RegionView {
 public:
  RegionView() = default;
  TM_DEVICE explicit RegionView(void* base)
      : base_(static_cast<unsigned char*>(base)), layout_(lay_out(header().identity.shape)) {}

  TM_DEVICE RegionHeader& header() const { return *reinterpret_cast<RegionHeader*>(base_); }
  TM_DEVICE const RegionLayout& layout() const { return layout_; }

  TM_DEVICE LaneEntry& lane(LaneIndex lane) const {
    return *at<LaneEntry>(layout_.lane_offset(lane));
  }
  TM_DEVICE SharedWord<std::uint64_t>& published_word(LaneIndex lane) const {
    return *at<SharedWord<std::uint64_t>>(layout_.published_word_offset(lane));
  }
  TM_DEVICE PageRing free_ring(LaneIndex lane) const {
    return ring(layout_.free_ring_offset(lane));
  }
  TM_DEVICE PageRing full_ring(LaneIndex lane) const {
    return ring(layout_.full_ring_offset(lane));
  }
  TM_DEVICE NameTable names() const {
    return {at<NameSlot>(layout_.names_offset), layout_.shape.name_slots};
  }
  TM_DEVICE PageHeader& page(PageIndex page) const {
    return *at<PageHeader>(layout_.page_offset(page));
  }
  TM_DEVICE unsigned char* payload(PageIndex page) const {
    return base_ + layout_.page_offset(page) + kPageHeaderBytes;
  }

 private:
  template <class T>
  TM_DEVICE T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  TM_DEVICE PageRing ring(std::uint64_t offset) const {
    return {at<SharedWord<std::uint64_t>>(offset), layout_.shape.ring_slots};
  }

  unsigned char* base_ = nullptr;
  RegionLayout layout_;
};

}  // namespace tidemark
