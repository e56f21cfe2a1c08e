// SPDX-License-Identifier: Apache-2.0
// A descriptor is closed once, by its last owner.
#include "tidemark/base/unique_fd.h"

#include <fcntl.h>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(UniqueFd, ClosesWhenItsOwnerEnds) {
  const int fd = open_null();
  {
    const UniqueFd owner(fd);
    EXPECT_TRUE(owner.valid() && is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

TEST(UniqueFd, MovingPassesTheDescriptorOnAndClosesTheOldOne) {
  UniqueFd first(open_null()), second(open_null());
  const int kept = first.get(), closed = second.get();
  second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT: moved from on purpose
  EXPECT_EQ(second.get(), kept);
  EXPECT_TRUE(is_open(kept));
  EXPECT_FALSE(is_open(closed));
}

TEST(UniqueFd, ReleaseLeavesTheDescriptorOpen) {
  UniqueFd owner(open_null());
  const int fd = owner.release();
  EXPECT_FALSE(owner.valid());
  owner.reset();
  EXPECT_TRUE(is_open(fd));
  ::close(fd);
}

}  // namespace
}  // namespace tidemark
