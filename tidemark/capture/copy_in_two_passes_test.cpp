// SPDX-License-Identifier: Apache-2.0
// What a copy kernel does with a version of xxHash whose own functions are not as it knows them:
// the same copy, the same sum.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/mix.h"
#include "tidemark/capture/copy_kernel_body.h"

namespace tidemark {
namespace {

TEST(CopyInTwoPasses, CopiesHeadAndBodyAndSumsThem) {
  for (const std::size_t head_bytes : {0u, 16u, 64u, 128u})
    for (const std::size_t body_bytes : {0u, 1u, 63u, 512u, 4'096u, 70'001u}) {
      const std::size_t total_bytes = head_bytes + body_bytes;
      std::vector<unsigned char> both(total_bytes + 1);
      for (std::size_t i = 0; i < both.size(); ++i)
        both[i] = static_cast<unsigned char>(mix(i + body_bytes));
      std::vector<unsigned char> room(total_bytes + 128, 0xA5);
      unsigned char* const to =
          room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64) % 64;
      const std::uint64_t sum =
          sum_and_copy(to, both.data(), head_bytes, both.data() + head_bytes, body_bytes);
      EXPECT_EQ(sum, XXH3_64bits(both.data(), total_bytes)) << head_bytes << " " << body_bytes;
      EXPECT_TRUE(std::equal(both.begin(), both.end() - 1, to)) << head_bytes << " " << body_bytes;
    }
}

}  // namespace
}  // namespace tidemark
