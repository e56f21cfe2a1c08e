// SPDX-License-Identifier: Apache-2.0
// Test support: which seeds a test goes through. Every test run takes a quick set; with
// TIDEMARK_CAMPAIGN in the environment ('./dev campaign') a test takes all. A sanitizer's build is
// slower, so it takes fewer.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace tidemark {

struct SeedCounts {
  std::uint64_t campaign, quick, under_sanitizer;
};

inline std::uint64_t seed_count(const SeedCounts& counts) {
  if (std::getenv("TIDEMARK_CAMPAIGN") != nullptr) return counts.campaign;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return counts.under_sanitizer;
#else
  return counts.quick;
#endif
}

// The same steps are taken again and again: under a sanitizer fewer of them show as much.
constexpr std::uint64_t fewer_under_sanitizer(std::uint64_t count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return count / 4;
#else
  return count;
#endif
}

// Others under a sanitizer than in the release build.
struct SeedRange {
  std::uint64_t first, last;
  [[nodiscard]] std::uint64_t count() const { return last - first + 1; }
};

inline SeedRange seed_range(std::uint64_t in_release, std::uint64_t under_sanitizer) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return {in_release + 1, in_release + under_sanitizer};
#else
  (void)under_sanitizer;
  return {1, in_release};
#endif
}

}  // namespace tidemark
