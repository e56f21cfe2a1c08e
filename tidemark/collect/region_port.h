// SPDX-License-Identifier: Apache-2.0
// How the host reaches a region: in place (mapped), or by positional reads and writes on the
// backing file (copied). Everything that comes through here is untrusted: callers check each number
// before they use it. The host writes only words it owns and pages it holds.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "tidemark/base/expected.h"
#include "tidemark/device/platform_table.h"
#include "tidemark/device/region_file.h"
#include "tidemark/ledger/page_check.h"
#include "tidemark/ledger/page_sink.h"
#include "tidemark/transport/region.h"

namespace tidemark {

class RegionPort final : public PayloadSource {
 public:
  RegionPort() = default;
  // The file must outlive the port.
  static Expected<RegionPort> open(const RegionFile& file, Transport transport);
  // For regions in plain memory (embedding, tests, fuzzing).
  static RegionPort over_memory(std::span<unsigned char> memory);

  // The bytes in place, or null if this transport has no mapping.
  [[nodiscard]] const unsigned char* in_place(std::uint64_t offset) const {
    return base_ == nullptr ? nullptr : base_ + offset;
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // One word, ordered before everything read later. A word that is changing may come torn on the
  // copied transport.
  [[nodiscard]] std::uint64_t load(std::uint64_t offset) const;
  [[nodiscard]] std::uint32_t load32(std::uint64_t offset) const;
  void store(std::uint64_t offset, std::uint64_t value);
  void store32(std::uint64_t offset, std::uint32_t value);

  // Copies what may be changing meanwhile; offset and size in multiples of 8. False: the system
  // could not read all of it, and the rest is zeros.
  bool read(std::uint64_t offset, void* to, std::uint64_t size) const override;
  // Zeroes a page that the host holds.
  void zero(std::uint64_t offset, std::uint64_t size);

  // Why a read of a copied region failed (errno); 0 while none did. What was read then is not what
  // the region holds.
  [[nodiscard]] int read_error() const { return read_error_.code.load(std::memory_order_relaxed); }

 private:
  struct ReadError {
    ReadError() = default;
    ReadError(ReadError&& other) noexcept : code(other.code.load(std::memory_order_relaxed)) {}
    ReadError& operator=(ReadError&& other) noexcept {
      code.store(other.code.load(std::memory_order_relaxed), std::memory_order_relaxed);
      return *this;
    }
    std::atomic<int> code{0};
  };
  template <class Word>
  [[nodiscard]] Word load_word(std::uint64_t offset) const;
  template <class Word>
  void store_word(std::uint64_t offset, Word value);
  bool copy_out(std::uint64_t offset, void* to, std::uint64_t size) const;

  MappedMemory mapping_;
  unsigned char* base_ = nullptr;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
  mutable ReadError read_error_;  // any thread
};

// What every page of a region must agree with.
PageExpectation expected_pages(const RegionPlan& plan);

// The typed reads the host needs.
LaneWordsImage read_lane_words(const RegionPort& port, const RegionLayout& layout, LaneIndex lane);
// The same, word by word in an order that closes a ledger while the producer goes on: every number
// in `attempted` is in a page up to `opened_pages` or in `dropped_total`, and every drop of the
// total has its reason. Reasons may be ahead. A lane counts as closed only if it was so throughout.
LaneWordsImage read_moving_lane_words(const RegionPort& port, const RegionLayout& layout,
                                      LaneIndex lane);
LanePlan read_lane_plan(const RegionPort& port, const RegionLayout& layout, LaneIndex lane);
PageHeaderImage read_page_header(const RegionPort& port, const RegionLayout& layout,
                                 PageIndex page);

}  // namespace tidemark
