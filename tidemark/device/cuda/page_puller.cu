// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/device/cuda/page_puller.cuh"

namespace tidemark {
namespace {

constexpr std::size_t kFlightPages = 32;
constexpr std::size_t kFlightsMax = 8;
constexpr std::uint64_t kBringAtLeastNs = 1'000'000;

}  // namespace

PagePuller::~PagePuller() {
  if (stream_ != nullptr) cudaStreamSynchronize(stream_);
  for (auto& flight : flights_) cudaEventDestroy(flight.landed);
  for (auto& event : events_) cudaEventDestroy(event);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
  if (ring_stream_ != nullptr) cudaStreamDestroy(ring_stream_);
  if (rings_brought_ != nullptr) cudaEventDestroy(rings_brought_);
  if (near_rings_ != nullptr) cudaFree(near_rings_);
  if (outbox_memory_ != nullptr) cudaFreeHost(outbox_memory_);
  if (pages_ != nullptr) cudaFree(pages_);
}

bool PagePuller::open(const RegionView& mapped, RegionView& for_kernels) {
  const RegionShape& shape = region_.layout().shape;
  const std::uint64_t bytes = std::uint64_t{shape.page_count} * shape.page_bytes;
  void* device_outbox = nullptr;
  if (!check_(cudaMalloc(reinterpret_cast<void**>(&pages_), bytes), "cudaMalloc of the pages") ||
      !check_(cudaMemset(pages_, 0, bytes), "cudaMemset of the pages") ||
      !check_(cudaHostAlloc(&outbox_memory_, region_.outbox_bytes(), cudaHostAllocMapped),
              "cudaHostAlloc of the outbox") ||
      !check_(cudaHostGetDevicePointer(&device_outbox, outbox_memory_, 0),
              "cudaHostGetDevicePointer of the outbox") ||
      !check_(cudaMalloc(&near_rings_, region_.rings_bytes()), "cudaMalloc of the free rings") ||
      !check_(cudaMemset(near_rings_, 0, region_.rings_bytes()), "cudaMemset of the free rings") ||
      !check_(cudaEventCreateWithFlags(&rings_brought_, cudaEventDisableTiming),
              "cudaEventCreate") ||
      !check_(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate") ||
      !check_(cudaStreamCreateWithFlags(&ring_stream_, cudaStreamNonBlocking), "cudaStreamCreate"))
    return false;
  std::memset(outbox_memory_, 0, region_.outbox_bytes());
  outbox_ = region_.with_outbox(pages_, outbox_memory_, nullptr);
  for_kernels = mapped.with_outbox(pages_, device_outbox, near_rings_);
  taken_.assign(shape.max_lanes, 0);
  forwarded_.assign(shape.max_lanes, 0);
  handed_.assign(shape.max_lanes, 0);
  for (std::size_t i = 0; i < kFlightsMax; ++i) {
    cudaEvent_t event = nullptr;
    if (!check_(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate"))
      return false;
    events_.push_back(event);
  }
  return bring_free_rings();
}

// The rings go over as they stand: a slot that changes under the copy proves nothing yet, and the
// next copy brings it.
bool PagePuller::bring_free_rings() {
  const RegionShape& shape = region_.layout().shape;
  for (LaneIndex lane = 0; lane < shape.max_lanes; ++lane)
    for (; region_.free_ring(lane).receive(handed_[lane]) != kNoPageIndex; ++handed_[lane])
      rings_changed_ = true;
  // Now and then in any case: a slot may have been used again before it was seen here.
  const std::uint64_t now_ns = monotonic_ns();
  if (!rings_changed_ && now_ns - brought_ns_ < kBringAtLeastNs) return true;
  const cudaError_t state = cudaEventQuery(rings_brought_);
  if (state == cudaErrorNotReady) return true;
  if (!check_(state, "copy of the free rings")) return false;
  rings_changed_ = false;
  brought_ns_ = now_ns;
  return check_(cudaMemcpyAsync(near_rings_, region_.free_rings(), region_.rings_bytes(),
                                cudaMemcpyHostToDevice, ring_stream_),
                "cudaMemcpyAsync of the free rings") &&
         check_(cudaEventRecord(rings_brought_, ring_stream_), "cudaEventRecord");
}

bool PagePuller::step() {
  if (!land() || !bring_free_rings()) return false;
  return flights_.size() == kFlightsMax || take_off();
}

// Publishes in the region, in the order of the copies.
bool PagePuller::land() {
  while (!flights_.empty()) {
    const cudaError_t state = cudaEventQuery(flights_.front().landed);
    if (state == cudaErrorNotReady) return true;
    if (!check_(state, "copy of pages")) return false;
    for (const Item& item : flights_.front().items) {
      std::uint64_t& position = forwarded_[item.lane];
      region_.full_ring(item.lane).send(position, item.page);
      region_.published_word(item.lane).store_release(++position);
    }
    events_.push_back(flights_.front().landed);
    flights_.pop_front();
  }
  return true;
}

bool PagePuller::take_off() {
  const RegionShape& shape = region_.layout().shape;
  Flight flight;
  // Starts where the last flight was full, so that no lane waits for the first ones.
  for (std::uint32_t looked = 0; looked < shape.max_lanes && flight.items.size() < kFlightPages;
       ++looked) {
    const LaneIndex lane = next_lane_;
    const std::uint64_t published = outbox_.published_word(lane).load_acquire();
    while (taken_[lane] < published && flight.items.size() < kFlightPages) {
      const PageIndex page = outbox_.full_ring(lane).receive(taken_[lane]);
      if (page == kNoPageIndex) break;  // the slot is still on its way
      ++taken_[lane];
      if (page < shape.page_count) flight.items.push_back({lane, page});
    }
    next_lane_ = lane + 1 == shape.max_lanes ? 0 : lane + 1;
  }
  found_ = !flight.items.empty();
  if (!found_) return true;
  std::vector<PageIndex> pages;
  for (const Item& item : flight.items) pages.push_back(item.page);
  if (!start_copies(pages)) return false;
  flight.landed = events_.back();
  events_.pop_back();
  const bool recorded = check_(cudaEventRecord(flight.landed, stream_), "cudaEventRecord");
  flights_.push_back(std::move(flight));
  return recorded;
}

bool PagePuller::start_copies(const std::vector<PageIndex>& pages) {
  const std::size_t page_bytes = region_.layout().shape.page_bytes;
#if CUDART_VERSION >= 13000
  if (batches_) {
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const PageIndex page : pages) {
      from.push_back(pages_ + page * page_bytes);
      to.push_back(region_.page_base(page));
    }
    const std::vector<std::size_t> sizes(pages.size(), page_bytes);
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    const cudaError_t code = cudaMemcpyBatchAsync(to.data(), from.data(), sizes.data(),
                                                  pages.size(), &attributes, &first, 1, stream_);
    batches_ = code == cudaSuccess;
    if (batches_) return true;
    cudaGetLastError();  // an older driver: one by one from here on
  }
#endif
  for (const PageIndex page : pages)
    if (!check_(cudaMemcpyAsync(region_.page_base(page), pages_ + page * page_bytes, page_bytes,
                                cudaMemcpyDeviceToHost, stream_),
                "cudaMemcpyAsync of a page"))
      return false;
  return true;
}

bool PagePuller::pull_unpublished() {
  const RegionShape& shape = region_.layout().shape;
  std::vector<PageIndex> pages;
  for (LaneIndex lane = 0; lane < shape.max_lanes; ++lane) {
    const LaneEntry& entry = region_.lane(lane);
    const std::uint64_t open_page = entry.words.open_page_index.load_acquire();
    const bool opened =
        entry.words.state.load_acquire() != static_cast<std::uint32_t>(LaneState::kUnopened);
    const bool keeps = entry.plan.overflow == static_cast<std::uint16_t>(Overflow::kKeepLast);
    if (!opened) continue;
    if (keeps)
      for (std::uint32_t i = 0; i < entry.plan.reserved_page_count; ++i)
        if (entry.plan.reserved_first_page + i < shape.page_count)
          pages.push_back(entry.plan.reserved_first_page + i);
    if (!keeps && open_page < shape.page_count) pages.push_back(static_cast<PageIndex>(open_page));
  }
  if (pages.empty()) return true;
  return start_copies(pages) &&
         check_(cudaStreamSynchronize(stream_), "cudaStreamSynchronize after pulling open pages");
}

}  // namespace tidemark
