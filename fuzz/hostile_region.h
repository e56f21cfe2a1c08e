// SPDX-License-Identifier: Apache-2.0
// A small region in memory or behind a file, and the lies that can be told in it: every word that
// a device could write, changed at the wish of a fuzzer's input. Used by region_input.h.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "fuzz/byte_source.h"
#include "tidemark/base/check.h"
#include "tidemark/collect/region_port.h"
#include "tidemark/device/region_plan.h"
#include "tidemark/transport/fragment.h"

namespace tidemark::fuzz {

inline constexpr std::uint64_t kHostileRunId = 0x71DE71DE;

inline RegionPlan plan_hostile_region() {
  RegionRequest request{
      .lanes = {}, .spare_lanes = 2, .recorder = {.page_bytes = 1024, .pool_bytes = 8 * 1024}};
  request.lanes = {{.stream = StreamId::kSwimlane, .overflow = Overflow::kWait, .unit = 0},
                   {.stream = StreamId::kSwimlane, .overflow = Overflow::kDrop, .unit = 1},
                   {.stream = StreamId::kDump, .overflow = Overflow::kWait, .record_bytes = 0},
                   {.stream = StreamId::kDump, .overflow = Overflow::kDrop, .record_bytes = 0},
                   {.stream = StreamId::kEvents, .overflow = Overflow::kWait, .unit = 4},
                   {.stream = StreamId::kSwimlane, .overflow = Overflow::kKeepLast, .unit = 5}};
  request.keep_pages = 2;
  request.recorder.drain_timeout_ms = 1;
  request.run_id = kHostileRunId;
  RegionPlan plan = plan_region(request).value();
  plan.identity.shape.name_slots = 8;
  plan.layout = lay_out(plan.identity.shape);
  plan.identity.total_bytes = plan.layout.total_bytes;
  plan.identity.drain_threads = 0;  // the input is its own scheduler
  return plan;
}

// Mapped: heap memory of exactly the region's size, so that a sanitizer sees every step outside.
// Copied: an anonymous file that the port reads by position.
class HostileRegion {
 public:
  HostileRegion(const RegionPlan& plan, Transport transport) : plan_(plan) {
    const std::uint64_t bytes = plan.layout.total_bytes;
    if (transport == Transport::kMapped) {
      base_ = static_cast<unsigned char*>(std::aligned_alloc(4096, bytes));
      port_ = RegionPort::over_memory({base_, bytes});
    } else {
      file_ = {.fd = UniqueFd(::memfd_create("region", MFD_CLOEXEC)), .path = "", .bytes = bytes};
      TM_CHECK(::ftruncate(file_.fd.get(), static_cast<off_t>(bytes)) == 0);
      mapping_ = map_region(file_.fd.get(), "region", bytes).value();
      base_ = static_cast<unsigned char*>(mapping_.base());
      port_ = RegionPort::open(file_, Transport::kCopied).value();
    }
    std::memset(base_, 0, bytes);
    std::memcpy(base_, &plan.identity, sizeof(plan.identity));
    for (LaneIndex lane = 0; lane < plan.lanes.size(); ++lane)
      std::memcpy(base_ + plan.layout.lane_offset(lane), &plan.lanes[lane], sizeof(LanePlan));
  }
  ~HostileRegion() {
    if (mapping_.base() == nullptr) std::free(base_);
  }
  HostileRegion(const HostileRegion&) = delete;
  HostileRegion& operator=(const HostileRegion&) = delete;

  [[nodiscard]] RegionPort& port() { return port_; }
  [[nodiscard]] unsigned char* base() { return base_; }

  // One lie.
  void tell_lie(ByteSource& input) {
    const RegionLayout& layout = plan_.layout;
    const std::uint32_t lane = input.below(layout.shape.max_lanes);
    const std::uint32_t page = input.below(layout.shape.page_count);
    switch (input.below(10)) {
      case 0:
        return put(input.take<std::uint32_t>() % (layout.total_bytes / 8) * 8, number(input));
      case 1:
        return put(layout.page_offset(page) + input.below(16) * 8, number(input));
      case 2: {
        const std::uint64_t position = input.below(32);
        const std::uint64_t slot = position % layout.shape.ring_slots * 8;
        return put(layout.full_ring_offset(lane) + slot, encode_slot(page, position));
      }
      case 3:
        return put(layout.published_word_offset(lane), number(input));
      case 4:
        return put(layout.lane_offset(lane) + input.below(sizeof(LaneEntry) / 8) * 8,
                   number(input));
      case 5: {
        const auto bytes = input.take_bytes(input.below(64));
        const std::uint64_t at = input.take<std::uint16_t>() % (layout.payload_bytes() - 64);
        std::memcpy(base_ + layout.page_offset(page) + kPageHeaderBytes + at, bytes.data(),
                    bytes.size());
        return;
      }
      case 6:
        return forge_page(input, lane, page);
      case 7:
        return put(layout.names_offset + input.below(layout.shape.name_slots) * sizeof(NameSlot) +
                       input.below(16) * 8,
                   number(input));
      case 8:
        return put(input.below(sizeof(RegionIdentity) / 8) * 8, number(input));
      default:
        return forge_lane(input, lane);
    }
  }

 private:
  // Numbers at which something may break, or any number.
  std::uint64_t number(ByteSource& input) {
    const RegionShape& shape = plan_.layout.shape;
    switch (input.below(16)) {
      case 0:
        return 0;
      case 1:
        return ~std::uint64_t{0};
      case 2:
        return shape.page_bytes;
      case 3:
        return plan_.layout.payload_bytes();
      case 4:
        return shape.page_count;
      case 5:
        return std::uint64_t{1} << input.below(64);
      case 6:
        return (std::uint64_t{1} << input.below(64)) - 1;
      case 7:
        return std::uint64_t{input.take<std::uint8_t>()} << 32 | input.take<std::uint8_t>();
      case 8:
        return input.take<std::uint64_t>();
      default:
        return input.take<std::uint8_t>();
    }
  }

  void put(std::uint64_t offset, std::uint64_t value) {
    std::memcpy(base_ + offset, &value, sizeof(value));
  }

  // A published page that is consistent but for what the input makes of it.
  void forge_page(ByteSource& input, std::uint32_t lane, std::uint32_t page) {
    const RegionLayout& layout = plan_.layout;
    const std::uint64_t sequence = 1 + input.below(16);
    PageHeaderImage header{};
    header.sequence = sequence;
    header.run_id = kHostileRunId;
    header.lane = lane;
    header.epoch = 1;
    header.generation = 1 + input.below(3);
    header.record_bytes =
        plan_.lanes[lane].stream == StreamId::kNone ? 32 : plan_.lanes[lane].record_bytes;
    header.used_bytes = input.take<std::uint16_t>() % (layout.payload_bytes() + 1);
    if (header.record_bytes != 0) header.used_bytes -= header.used_bytes % header.record_bytes;
    header.first_number = input.below(255);
    header.first_frame_offset = kNoFrame;
    header.record_count =
        header.record_bytes == 0 ? header.used_bytes / 48 : header.used_bytes / header.record_bytes;
    if (input.below(4) == 0) header.record_count = kPageOpen;
    std::memcpy(base_ + layout.page_offset(page), &header, sizeof(header));
    forge_content(input, header, base_ + layout.page_offset(page) + kPageHeaderBytes);
    const std::uint64_t slot = (sequence - 1) % layout.shape.ring_slots * 8;
    put(layout.full_ring_offset(lane) + slot, encode_slot(page, sequence - 1));
    put(layout.published_word_offset(lane), sequence);
  }

  void forge_content(ByteSource& input, const PageHeaderImage& header, unsigned char* payload) {
    const std::uint32_t payload_bytes = plan_.layout.payload_bytes();
    if (header.record_bytes != 0) {
      const std::uint64_t stamp = std::uint64_t{header.generation} << 48;
      for (std::uint32_t at = 8; at < payload_bytes; at += 16) std::memcpy(payload + at, &stamp, 8);
      return;
    }
    std::uint64_t at = 0, frame = header.first_number, offset = 0;
    while (at + kFragmentHeaderBytes <= payload_bytes) {
      const std::uint64_t room = payload_bytes - at - kFragmentHeaderBytes;
      const std::uint64_t total = 1 + input.below(200);
      const std::uint64_t length = std::min(room, total);
      const bool last = length == total;
      const FragmentImage image{frame, total, offset,
                                encode_commit({.length = static_cast<std::uint32_t>(length),
                                               .first = true,
                                               .last = last,
                                               .generation = header.generation})};
      std::memcpy(payload + at, &image, sizeof(image));
      frame += last;
      at += fragment_span(length);
    }
  }

  void forge_lane(ByteSource& input, std::uint32_t lane) {
    LanePlan forged{};
    forged.stream = static_cast<StreamId>(input.below(8));
    forged.overflow = static_cast<Overflow>(input.below(5));
    forged.record_bytes = input.below(10) * 8;
    forged.reserved_first_page = input.below(255);
    forged.reserved_page_count = input.below(3) == 0 ? input.below(16) : 0;
    std::memset(forged.producer, input.take<std::uint8_t>(), sizeof(forged.producer));
    std::memcpy(base_ + plan_.layout.lane_offset(lane), &forged, sizeof(forged));
  }

  const RegionPlan& plan_;
  RegionFile file_{};
  MappedMemory mapping_;
  RegionPort port_;
  unsigned char* base_ = nullptr;
};

}  // namespace tidemark::fuzz
