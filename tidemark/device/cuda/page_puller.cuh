// SPDX-License-Identifier: Apache-2.0
// Pulls pages out of a GPU's own memory while its kernel runs, on a second stream, and brings the
// free rings to it on a third:
//
//   kernel ─▶ page in GPU memory, index into the outbox ─▶ puller ─▶ page and index in the region
//   kernel ◀─ free rings in GPU memory ◀─────────────────── puller ◀─ free rings of the region
//
// Without the latter every waiting lane would read over the link, and a hundred of them hold the
// copies at a tenth of their speed.
// The host of the run sees only the region, as if the kernel had written there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "tidemark/device/cuda/cuda_check.cuh"
#include "tidemark/transport/region.h"

namespace tidemark {

class PagePuller {
 public:
  PagePuller(CudaCheck* check, const RegionView& region) : check_(*check), region_(region) {}
  ~PagePuller();
  PagePuller(const PagePuller&) = delete;
  PagePuller& operator=(const PagePuller&) = delete;

  // `mapped` is the region as the GPU sees it; the view for its kernels comes back.
  bool open(const RegionView& mapped, RegionView& for_kernels);

  // One look at every lane: forwards what has arrived, starts copying what was published.
  // False if a call failed.
  bool step();
  [[nodiscard]] bool idle() const { return flights_.empty() && !found_; }
  // Brings over the pages that no lane published, those being filled and all of keep-last lanes,
  // and then everything that is published by now. The kernel may go on meanwhile, and this process
  // may be ended: a page in the region is whole, or it is empty.
  bool rescue();

 private:
  struct Item {
    LaneIndex lane;
    PageIndex page;
  };
  struct Flight {
    std::vector<Item> items;
    cudaEvent_t landed = nullptr;
  };

  // Where a rescue puts the pages of one batch: each twice, and its sequence before and after.
  struct Staging {
    unsigned char* first = nullptr;
    unsigned char* second = nullptr;
    std::uint64_t* before = nullptr;
    std::uint64_t* after = nullptr;
    std::size_t pages = 0;
  };

  bool bring_free_rings();
  bool land();
  bool land_everything();
  bool open_staging();
  bool pull_published();
  [[nodiscard]] std::vector<PageIndex> unpublished_pages() const;
  bool rescue_batch(std::span<const PageIndex> pages);
  bool start_copies(const std::vector<PageIndex>& pages);
  bool take_off();

  CudaCheck& check_;
  RegionView region_;  // as this process sees it
  RegionView outbox_;
  unsigned char* pages_ = nullptr;  // in GPU memory
  void* outbox_memory_ = nullptr;
  void* near_rings_ = nullptr;  // in GPU memory
  cudaStream_t stream_ = nullptr;
  cudaStream_t ring_stream_ = nullptr;
  cudaEvent_t rings_brought_ = nullptr;
  bool rings_changed_ = true;
  std::uint64_t brought_ns_ = 0;
  std::vector<std::uint64_t> taken_;      // of each lane, from the outbox
  std::vector<std::uint64_t> forwarded_;  // of each lane, into the region
  std::vector<std::uint64_t> handed_;     // of each lane, seen in its free ring
  std::deque<Flight> flights_;
  std::vector<cudaEvent_t> events_;  // not in use
  void* staging_memory_ = nullptr;
  Staging staging_;
  std::uint32_t next_lane_ = 0;
  bool batches_ = true;  // the driver knows batched copies
  bool found_ = false;   // the last look found something
};

}  // namespace tidemark
