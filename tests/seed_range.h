// SPDX-License-Identifier: Apache-2.0
// Test support: which seeds a test goes through. A sanitizer's build is slower, so it takes fewer,
// and others than the release build.
#pragma once

#include <cstdint>

namespace tidemark {

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
