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
inline constexpr std::uint32_t kRegionAbiVersion = 4;
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
  std::uint32_t keeps_pages;      // 1: the device does; the region has what was pulled out of it
  std::uint64_t host_start_time;  // in clock ticks since boot, as the kernel counts it
};

// Writer: host.
struct RegionHostWords {
  SharedWord<std::uint32_t> abort;   // 1: the run is to end now
  SharedWord<std::uint32_t> rescue;  // 1: the host reads what is left as soon as `rescued` says so
  SharedWord<std::uint64_t> drained_pages[kDrainThreadsMax];  // one per drain thread
  SharedWord<std::uint32_t> snapshot;   // 1: the host wants the device's memory as soon as may be
  SharedWord<std::uint32_t> core;       // 1: the host wants a core dump of the device
  SharedWord<std::uint64_t> looked_ns;  // CLOCK_MONOTONIC: the host was alive then
};

// One reading of the device's clock against the host's, made by the device process.
struct ClockAnchorWords {
  SharedWord<std::uint64_t> device_ticks;
  SharedWord<std::uint64_t> host_ns;  // CLOCK_MONOTONIC
  SharedWord<std::uint64_t> real_ns;  // CLOCK_REALTIME
  SharedWord<std::uint64_t> uncertainty_ns;
};
inline constexpr std::uint32_t kClockAnchorsMax = 8;
inline constexpr std::uint32_t kFiguresMax = 16;
// The last figure is the same for all programs: nanoseconds per record, where the device measured.
inline constexpr std::uint32_t kFigureNsPerRecord = kFiguresMax - 1;

inline constexpr std::uint32_t kCoreWritten = 1;
inline constexpr std::uint32_t kCoreRefused = 2;  // there will be none

// Writer: the device process (its own threads agree who).
struct RegionDeviceWords {
  SharedWord<std::uint32_t> device_pid;
  SharedWord<std::uint32_t> host_gone;  // 1: the host process died
  SharedWord<std::uint64_t> device_start_time;
  SharedWord<std::uint64_t> launch_ticks;  // the epoch of all times
  SharedWord<std::uint64_t> finish_ticks;
  SharedWord<std::uint32_t> anchor_count;  // on devices whose clock the host cannot read
  SharedWord<std::uint32_t> fault_bytes;   // of fault_text; 0: no fault
  ClockAnchorWords anchors[kClockAnchorsMax];
  SharedWord<std::uint64_t> figures[kFiguresMax];  // what a program reports to whoever launched it
  // 1: a device that keeps its pages has brought over all it will ever bring, and touches no page
  // of the region any more.
  SharedWord<std::uint32_t> rescued;
  // 1: the host's image of the device's memory has the state of the tasks. Only on devices whose
  // memory the host does not share.
  SharedWord<std::uint32_t> snapped;
  SharedWord<std::uint32_t> core;  // that the host wanted: kCoreWritten or kCoreRefused
  SharedWord<std::uint32_t> reserved;
};

// Writer: host, before any other process sees the region: where the run's files are.
inline constexpr std::uint32_t kRunDirectoryBytes = 2048;
// Writer: the device process: what went wrong, for people.
inline constexpr std::uint32_t kFaultTextBytes = 512;

struct RegionHeader {
  RegionIdentity identity;
  alignas(256) RegionHostWords host;
  alignas(256) RegionDeviceWords device;
  alignas(256) char run_directory[kRunDirectoryBytes];
  char fault_text[kFaultTextBytes];
};
static_assert(sizeof(RegionHeader) <= kRegionHeaderBytes);
static_assert(offsetof(RegionHeader, host) == 256 && offsetof(RegionHeader, device) == 512);
static_assert(offsetof(RegionHeader, fault_text) % 8 == 0);

class RegionView {
 public:
  RegionView() = default;
  TM_DEVICE explicit RegionView(void* base)
      : RegionView(base, lay_out(static_cast<RegionHeader*>(base)->identity.shape)) {}
  // For a region that is mapped elsewhere than where this runs (a GPU's address of it).
  TM_DEVICE RegionView(void* base, const RegionLayout& layout)
      : base_(static_cast<unsigned char*>(base)),
        pages_(base_ + layout.pages_offset),
        published_(at<SharedWord<std::uint64_t>>(layout.published_offset)),
        full_rings_(at<SharedWord<std::uint64_t>>(layout.full_rings_offset)),
        free_rings_(at<SharedWord<std::uint64_t>>(layout.free_rings_offset)),
        layout_(layout) {}

  // The same region, but the device keeps its pages to itself. What it publishes goes into an
  // outbox: a puller copies the pages into the region and publishes them there. The puller also
  // mirrors the free rings into device memory, so that a waiting lane need not read over the link;
  // null: it does not.
  TM_DEVICE RegionView with_outbox(void* pages, void* outbox, void* free_rings) const {
    RegionView view = *this;
    view.pages_ = static_cast<unsigned char*>(pages);
    view.published_ = static_cast<SharedWord<std::uint64_t>*>(outbox);
    view.full_rings_ = view.published_ + layout_.shape.max_lanes;
    if (free_rings == nullptr) return view;
    view.free_rings_ = static_cast<SharedWord<std::uint64_t>*>(free_rings);
    view.rings_are_near_ = true;
    return view;
  }
  TM_DEVICE bool rings_are_near() const { return rings_are_near_; }
  TM_DEVICE std::uint64_t rings_bytes() const {
    return std::uint64_t{layout_.shape.max_lanes} * layout_.shape.ring_slots * 8;
  }
  // All free rings, one after the other.
  TM_DEVICE void* free_rings() const { return free_rings_; }
  TM_DEVICE std::uint64_t outbox_bytes() const {
    return rings_bytes() + std::uint64_t{layout_.shape.max_lanes} * 8;
  }

  TM_DEVICE RegionHeader& header() const { return *reinterpret_cast<RegionHeader*>(base_); }
  // True when the run is aborted or nobody is left to read what it records.
  TM_DEVICE bool stop_requested() const {
    // pairs with [run aborted] and [host gone]
    return header().host.abort.load_acquire() != 0 || header().device.host_gone.load_acquire() != 0;
  }
  TM_DEVICE const RegionLayout& layout() const { return layout_; }
  // What went wrong, for people, just before the device is ended.
  TM_DEVICE void say_fault(const char* text) const {
    auto* words = reinterpret_cast<SharedWord<std::uint64_t>*>(header().fault_text);
    std::uint32_t length = 0;
    for (std::uint64_t packed = 0; text[length] != 0 && length < kFaultTextBytes - 1; ++length) {
      if (length % 8 == 0) packed = 0;
      packed |= std::uint64_t{static_cast<unsigned char>(text[length])} << (8 * (length % 8));
      words[length / 8].store_relaxed(packed);
    }
    header().device.fault_bytes.store_release(length);  // [fault written]
  }

  TM_DEVICE LaneEntry& lane(LaneIndex lane) const {
    return *at<LaneEntry>(layout_.lane_offset(lane));
  }
  TM_DEVICE SharedWord<std::uint64_t>& published_word(LaneIndex lane) const {
    return published_[lane];
  }
  TM_DEVICE PageRing free_ring(LaneIndex lane) const {
    return {free_rings_ + std::uint64_t{lane} * layout_.shape.ring_slots, layout_.shape.ring_slots};
  }
  TM_DEVICE PageRing full_ring(LaneIndex lane) const {
    return {full_rings_ + std::uint64_t{lane} * layout_.shape.ring_slots, layout_.shape.ring_slots};
  }
  TM_DEVICE NameTable names() const {
    return {at<NameSlot>(layout_.names_offset), layout_.shape.name_slots};
  }
  // What a runtime says of itself; transport does not know what it means.
  TM_DEVICE void* status() const { return at<unsigned char>(layout_.status_offset); }
  TM_DEVICE PageHeader& page(PageIndex page) const {
    return *reinterpret_cast<PageHeader*>(page_base(page));
  }
  TM_DEVICE unsigned char* payload(PageIndex page) const {
    return page_base(page) + kPageHeaderBytes;
  }
  TM_DEVICE unsigned char* page_base(PageIndex page) const {
    return pages_ + std::uint64_t{page} * layout_.shape.page_bytes;
  }

 private:
  template <class T>
  TM_DEVICE T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

  unsigned char* base_ = nullptr;
  unsigned char* pages_ = nullptr;
  SharedWord<std::uint64_t>* published_ = nullptr;
  SharedWord<std::uint64_t>* full_rings_ = nullptr;
  SharedWord<std::uint64_t>* free_rings_ = nullptr;
  bool rings_are_near_ = false;
  RegionLayout layout_;
};

}  // namespace tidemark
