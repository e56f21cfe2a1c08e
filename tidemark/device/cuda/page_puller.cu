// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/device/cuda/page_puller.cuh"
#include "tidemark/device/cuda/rescued_page.h"

namespace tidemark {
namespace {

constexpr std::size_t kFlightPages = 32;
constexpr std::size_t kFlightsMax = 8;
constexpr std::uint64_t kBringAtLeastNs = 1'000'000;
constexpr std::size_t kStagingBytes = 8 << 20;
constexpr std::uint64_t kLastPullNs = 500'000'000;

}  // namespace

PagePuller::~PagePuller() {
  if (stream_ != nullptr) cudaStreamSynchronize(stream_);
  for (auto& flight : flights_) cudaEventDestroy(flight.landed);
  for (auto& event : events_) cudaEventDestroy(event);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
  if (ring_stream_ != nullptr) cudaStreamDestroy(ring_stream_);
  if (rings_brought_ != nullptr) cudaEventDestroy(rings_brought_);
  if (near_rings_ != nullptr) cudaFree(near_rings_);
  if (staging_memory_ != nullptr) cudaFreeHost(staging_memory_);
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
  return open_staging() && bring_free_rings();
}

// The rings are copied as they are: a slot that changes under the copy proves nothing yet, and the
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
      if (item.page < region_.layout().shape.page_count) {
        PageHeader& header = region_.page(item.page);
        header.landed.store_release(header.sequence.load_relaxed());  // [page landed]
      }
      region_.full_ring(item.lane).send(position, item.page);
      region_.published_word(item.lane).store_release(++position);  // [page published]
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
    // pairs with [page published]
    const std::uint64_t published = outbox_.published_word(lane).load_acquire();
    while (taken_[lane] < published && flight.items.size() < kFlightPages) {
      const PageIndex page = outbox_.full_ring(lane).receive(taken_[lane]);
      if (page == kNoPageIndex) break;  // the slot is still on its way
      ++taken_[lane];
      flight.items.push_back({lane, page});  // also an impossible one: the host counts positions
    }
    next_lane_ = lane + 1 == shape.max_lanes ? 0 : lane + 1;
  }
  found_ = !flight.items.empty();
  if (!found_) return true;
  std::vector<PageIndex> pages;
  for (const Item& item : flight.items)
    if (item.page < shape.page_count) pages.push_back(item.page);
  if (!start_copies(pages)) return false;
  flight.landed = events_.back();
  events_.pop_back();
  const bool recorded = check_(cudaEventRecord(flight.landed, stream_), "cudaEventRecord");
  flights_.push_back(std::move(flight));
  return recorded;
}

bool PagePuller::start_copies(const std::vector<PageIndex>& pages) {
  if (pages.empty()) return true;
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

bool PagePuller::open_staging() {
  const std::size_t page_bytes = region_.layout().shape.page_bytes;
  staging_.pages = std::clamp<std::size_t>(kStagingBytes / page_bytes / 2, 1, kFlightPages);
  const std::size_t bytes = staging_.pages * (2 * page_bytes + 2 * sizeof(std::uint64_t));
  if (!check_(cudaHostAlloc(&staging_memory_, bytes, cudaHostAllocDefault),
              "cudaHostAlloc for rescued pages"))
    return false;
  staging_.first = static_cast<unsigned char*>(staging_memory_);
  staging_.second = staging_.first + staging_.pages * page_bytes;
  staging_.before = reinterpret_cast<std::uint64_t*>(staging_.second + staging_.pages * page_bytes);
  staging_.after = staging_.before + staging_.pages;
  return true;
}

// The unpublished pages first: a page that is published meanwhile is pulled after them, so that no
// page is missing before one that is there.
bool PagePuller::rescue() {
  if (!land_everything()) return false;
  const std::vector<PageIndex> pages = unpublished_pages();
  for (std::size_t at = 0; at < pages.size(); at += staging_.pages) {
    const std::size_t count = std::min(staging_.pages, pages.size() - at);
    if (!rescue_batch(std::span(pages).subspan(at, count))) return false;
  }
  return pull_published();
}

bool PagePuller::land_everything() {
  return check_(cudaStreamSynchronize(stream_), "cudaStreamSynchronize") && land();
}

std::vector<PageIndex> PagePuller::unpublished_pages() const {
  const RegionShape& shape = region_.layout().shape;
  std::vector<PageIndex> pages;
  for (LaneIndex lane = 0; lane < shape.max_lanes; ++lane) {
    const LaneEntry& entry = region_.lane(lane);
    // The state first: a lane that is open has said which page it fills. pairs with [lane opened]
    const bool opened = entry.words.state.load_acquire() != LaneState::kUnopened;
    // pairs with [open page named]
    const std::uint64_t open_page = entry.words.open_page_index.load_acquire();
    const bool keeps = entry.plan.overflow == Overflow::kKeepLast;
    if (!opened) continue;
    if (keeps)
      for (std::uint32_t i = 0; i < entry.plan.reserved_page_count; ++i)
        if (entry.plan.reserved_first_page + i < shape.page_count)
          pages.push_back(entry.plan.reserved_first_page + i);
    if (!keeps && open_page < shape.page_count) pages.push_back(static_cast<PageIndex>(open_page));
  }
  return pages;
}

// Page by page in the order of the stream: its sequence, the page, the page again, its sequence
// again. If the sequence did not move, all of it is of one filling. A lane at full speed reopens a
// page after some ten microseconds, so nothing else comes in between.
bool PagePuller::rescue_batch(std::span<const PageIndex> pages) {
  const std::size_t page_bytes = region_.layout().shape.page_bytes;
  const auto copy = [&](PageIndex page, void* to, std::size_t bytes) {
    return check_(
        cudaMemcpyAsync(to, pages_ + page * page_bytes, bytes, cudaMemcpyDeviceToHost, stream_),
        "cudaMemcpyAsync of a page that is rescued");
  };
  for (std::size_t i = 0; i < pages.size(); ++i)
    if (!copy(pages[i], &staging_.before[i], sizeof(std::uint64_t)) ||
        !copy(pages[i], staging_.first + i * page_bytes, page_bytes) ||
        !copy(pages[i], staging_.second + i * page_bytes, page_bytes) ||
        !copy(pages[i], &staging_.after[i], sizeof(std::uint64_t)))
      return false;
  if (!check_(cudaStreamSynchronize(stream_), "cudaStreamSynchronize after a rescue")) return false;
  for (std::size_t i = 0; i < pages.size(); ++i)
    put_rescued_page(region_, pages[i],
                     {.sequence_before = staging_.before[i],
                      .first = staging_.first + i * page_bytes,
                      .second = staging_.second + i * page_bytes,
                      .sequence_after = staging_.after[i]});
  return true;
}

// What is published when this begins. A kernel that goes on publishes more; nobody waits for that.
bool PagePuller::pull_published() {
  const RegionShape& shape = region_.layout().shape;
  std::vector<std::uint64_t> goal;
  for (LaneIndex lane = 0; lane < shape.max_lanes; ++lane)
    goal.push_back(outbox_.published_word(lane).load_acquire());  // pairs with [page published]
  const auto reached = [&] {
    for (LaneIndex lane = 0; lane < shape.max_lanes; ++lane)
      if (taken_[lane] < goal[lane]) return false;
    return true;
  };
  const std::uint64_t end_ns = monotonic_ns() + kLastPullNs;  // a slot may never come
  while (!reached() && monotonic_ns() < end_ns)
    if (!land() || (flights_.size() < kFlightsMax && !take_off())) return false;
  return land_everything();
}

}  // namespace tidemark
