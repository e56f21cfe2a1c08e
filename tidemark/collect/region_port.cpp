// SPDX-License-Identifier: Apache-2.0
#include "tidemark/collect/region_port.h"

#include <unistd.h>

#include <array>
#include <cstring>

#include "tidemark/base/check.h"
#include "tidemark/base/whole_io.h"

namespace tidemark {

Expected<RegionPort> RegionPort::open(const RegionFile& file, Transport transport) {
  RegionPort port;
  port.bytes_ = file.bytes;
  port.fd_ = file.fd.get();
  if (transport != Transport::kCopied) {
    TM_TRY(port.mapping_, map_region(file.fd.get(), file.path, file.bytes));
    port.base_ = static_cast<unsigned char*>(port.mapping_.base());
  }
  return port;
}

RegionPort RegionPort::over_memory(std::span<unsigned char> memory) {
  RegionPort port;
  port.base_ = memory.data();
  port.bytes_ = memory.size();
  return port;
}

template <class Word>
Word RegionPort::load_word(std::uint64_t offset) const {
  TM_CHECK(offset + sizeof(Word) <= bytes_);
  if (base_ != nullptr)  // caller's label
    return reinterpret_cast<const SharedWord<Word>*>(base_ + offset)->load_acquire();
  Word value = 0;
  copy_out(offset, &value, sizeof(value));
  return value;
}

template <class Word>
void RegionPort::store_word(std::uint64_t offset, Word value) {
  TM_CHECK(offset + sizeof(Word) <= bytes_);
  if (base_ != nullptr)  // caller's label
    reinterpret_cast<SharedWord<Word>*>(base_ + offset)->store_release(value);
  else
    TM_CHECK(write_at(fd_, offset, &value, sizeof(value)));
}

std::uint64_t RegionPort::load(std::uint64_t offset) const {
  return load_word<std::uint64_t>(offset);
}
std::uint32_t RegionPort::load32(std::uint64_t offset) const {
  return load_word<std::uint32_t>(offset);
}
void RegionPort::store(std::uint64_t offset, std::uint64_t value) { store_word(offset, value); }
void RegionPort::store32(std::uint64_t offset, std::uint32_t value) { store_word(offset, value); }

bool RegionPort::read(std::uint64_t offset, void* to, std::uint64_t size) const {
  TM_CHECK(offset % 8 == 0 && size % 8 == 0 && size <= bytes_ && offset <= bytes_ - size);
  auto* bytes = static_cast<unsigned char*>(to);
  if (base_ != nullptr) {
    const auto* words = reinterpret_cast<const SharedWord<std::uint64_t>*>(base_ + offset);
    for (std::uint64_t i = 0; i < size / 8; ++i) {
      // Any of these words may be the one that publishes those behind it. Of a page: pairs with
      // [page reopened], [page sealed], [page landed], [quantum begun], [quantum stamped],
      // [commit cleared] and [fragment committed]. Of the rest: with what the caller names.
      const std::uint64_t word = words[i].load_acquire();
      std::memcpy(bytes + i * 8, &word, 8);
    }
    return true;
  }
  return copy_out(offset, to, size);
}

bool RegionPort::copy_out(std::uint64_t offset, void* to, std::uint64_t size) const {
  const ssize_t got = read_at(fd_, offset, to, size);
  const std::uint64_t done = got < 0 ? 0 : static_cast<std::uint64_t>(got);
  if (done == size) return true;
  read_error_.code.store(got < 0 ? errno : EIO, std::memory_order_relaxed);
  std::memset(static_cast<unsigned char*>(to) + done, 0, size - done);
  return false;
}

void RegionPort::zero(std::uint64_t offset, std::uint64_t size) {
  TM_CHECK(size <= bytes_ && offset <= bytes_ - size);
  if (base_ != nullptr) {
    std::memset(base_ + offset, 0, size);
    return;
  }
  constexpr std::array<unsigned char, 4096> kZeros{};
  for (std::uint64_t done = 0; done < size; done += kZeros.size()) {
    const std::uint64_t part = size - done < kZeros.size() ? size - done : kZeros.size();
    TM_CHECK(write_at(fd_, offset + done, kZeros.data(), part));
  }
}

PageExpectation expected_pages(const RegionPlan& plan) {
  return {.run_id = plan.identity.run_id,
          .lane_count = plan.layout.shape.max_lanes,
          .payload_bytes = plan.layout.payload_bytes()};
}

LaneWordsImage read_lane_words(const RegionPort& port, const RegionLayout& layout, LaneIndex lane) {
  LaneWordsImage image;
  port.read(layout.lane_offset(lane) + offsetof(LaneEntry, words), &image, sizeof(image));
  return image;
}

LaneWordsImage read_moving_lane_words(const RegionPort& port, const RegionLayout& layout,
                                      LaneIndex lane) {
  const std::uint64_t base = layout.lane_offset(lane) + offsetof(LaneEntry, words);
  static_assert(offsetof(LaneWords, state) == 0 && offsetof(LaneWords, epoch) == 4);
  const std::uint64_t state_and_epoch = port.load(base);  // pairs with [lane opened], [lane closed]
  // pairs with [refusal counted]
  const std::uint64_t attempted = port.load(base + offsetof(LaneWords, attempted));
  // alone: these two only have to be younger than `attempted`
  const std::uint64_t dropped_total = port.load(base + offsetof(LaneWords, dropped_total));
  const std::uint64_t opened_pages = port.load(base + offsetof(LaneWords, opened_pages));
  LaneWordsImage image = read_lane_words(port, layout, lane);
  image.attempted = attempted;
  image.dropped_total = dropped_total;
  image.opened_pages = opened_pages;
  const bool moved = port.load(base) != state_and_epoch;  // alone: a second look at one word
  std::memcpy(&image, &state_and_epoch, sizeof(state_and_epoch));
  if (moved) image.state = LaneState::kOpen;
  return image;
}

LanePlan read_lane_plan(const RegionPort& port, const RegionLayout& layout, LaneIndex lane) {
  LanePlan plan;
  port.read(layout.lane_offset(lane) + offsetof(LaneEntry, plan), &plan, sizeof(plan));
  plan.producer[kProducerTextBytes - 1] = 0;
  return plan;
}

PageHeaderImage read_page_header(const RegionPort& port, const RegionLayout& layout,
                                 PageIndex page) {
  PageHeaderImage image;
  port.read(layout.page_offset(page), &image, sizeof(image));
  return image;
}

}  // namespace tidemark
