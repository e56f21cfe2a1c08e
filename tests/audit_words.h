// SPDX-License-Identifier: Apache-2.0
// What an audited run writes down by itself, in a file of the test's own: how many records and
// frames were accepted on each lane, a digest of each, and what became of its fault plan. It
// outlives every process of the run and knows nothing of capture or ledger.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "tidemark/base/check.h"
#include "tidemark/base/fault_plan.h"
#include "tidemark/base/mix.h"
#include "tidemark/base/unique_fd.h"

namespace tidemark {

inline constexpr std::uint32_t kAuditLanes = 1024;
inline constexpr std::uint32_t kAuditSlots = 1 << 15;  // of a lane: its newest numbers

// The file. Most of it is never touched.
struct AuditImage {
  std::atomic<std::uint64_t> accepted[kAuditLanes];
  FaultTally faults;
  alignas(4096) std::atomic<std::uint64_t> slots[kAuditLanes][kAuditSlots];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Of a record as it is in its page, stamps included. Never 0.
inline std::uint64_t record_digest(const unsigned char* record, std::uint64_t bytes) {
  std::uint64_t digest = bytes;
  for (std::uint64_t at = 0; at + 8 <= bytes; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, record + at, 8);
    digest = mix(digest * 0x9E3779B97F4A7C15ull ^ word);
  }
  return digest | 1;
}

// The test's side of it. Programs that are started while it lives write in it.
class AuditWords {
 public:
  explicit AuditWords(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    TM_CHECK(fd.valid() && ::ftruncate(fd.get(), sizeof(AuditImage)) == 0);
    void* base = ::mmap(nullptr, sizeof(AuditImage), PROT_READ, MAP_SHARED, fd.get(), 0);
    TM_CHECK(base != MAP_FAILED);
    image_ = static_cast<const AuditImage*>(base);
    ::setenv("TIDEMARK_AUDIT", path.c_str(), 1);
  }
  ~AuditWords() {
    ::unsetenv("TIDEMARK_AUDIT");
    ::munmap(const_cast<AuditImage*>(image_), sizeof(AuditImage));
  }
  AuditWords(const AuditWords&) = delete;
  AuditWords& operator=(const AuditWords&) = delete;

  [[nodiscard]] std::uint64_t accepted(std::uint32_t lane) const {
    return lane < kAuditLanes ? image_->accepted[lane].load() : 0;
  }
  [[nodiscard]] std::uint64_t accepted_in_all() const {
    std::uint64_t sum = 0;
    for (const auto& count : image_->accepted) sum += count.load();
    return sum;
  }
  // The digest of an accepted record, or the size of an accepted frame. 0: nothing of this number
  // was accepted.
  [[nodiscard]] std::uint64_t slot(std::uint32_t lane, std::uint64_t number) const {
    return lane < kAuditLanes ? image_->slots[lane][number % kAuditSlots].load() : 0;
  }
  // By all programs so far.
  [[nodiscard]] std::uint64_t fired() const { return image_->faults.fired.load(); }
  [[nodiscard]] std::uint64_t refused() const { return image_->faults.refused.load(); }
  [[nodiscard]] std::uint64_t reached(FaultPoint point) const {
    return image_->faults.reached[static_cast<std::uint32_t>(point)].load();
  }

 private:
  const AuditImage* image_ = nullptr;
};

}  // namespace tidemark
