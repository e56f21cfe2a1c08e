// SPDX-License-Identifier: Apache-2.0
// A read or write that the system cuts short goes on; what the file does not have is not read.
#include "tidemark/base/whole_io.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/mapped_memory.h"

namespace tidemark {
namespace {

class WholeIo : public testing::Test {
 protected:
  UniqueFd fd_{::memfd_create("tidemark-test", MFD_CLOEXEC)};
};

TEST_F(WholeIo, WhatIsWrittenAtAPlaceIsReadThere) {
  ASSERT_TRUE(write_at(fd_.get(), 5, "hello", 5));
  char text[5] = {};
  EXPECT_EQ(read_at(fd_.get(), 5, text, 5), 5);
  EXPECT_EQ(std::string(text, 5), "hello");
  EXPECT_EQ(read_at(fd_.get(), 0, text, 5), 5);
  EXPECT_EQ(std::string(text, 5), std::string(5, 0));
}

TEST_F(WholeIo, ReadsNoMoreThanThereIs) {
  ASSERT_TRUE(write_at(fd_.get(), 0, "abc", 3));
  char text[8] = {};
  EXPECT_EQ(read_at(fd_.get(), 1, text, 8), 2);
  EXPECT_EQ(read_at(fd_.get(), 3, text, 8), 0);
  EXPECT_EQ(read_at(-1, 0, text, 8), -1);
  EXPECT_EQ(errno, EBADF);
}

// The system writes up to the limit on file sizes and refuses the rest.
TEST_F(WholeIo, AWriteThatIsCutShortIsAnError) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::vector<char> bytes(3000, 'x');
  const bool whole = write_at(fd_.get(), 0, bytes.data(), bytes.size());
  const int code = errno;
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_FALSE(whole);
  EXPECT_EQ(code, EFBIG);
}

TEST(MappedMemoryTest, HasOneOwnerAndSaysIfItIsThere) {
  MappedMemory one = map_memory_file("tidemark-test", 4096);
  ASSERT_TRUE(one.valid());
  one.data()[4095] = 7;
  MappedMemory other = std::move(one);
  EXPECT_FALSE(one.valid());  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(other.data()[4095], 7);
  EXPECT_EQ(other.bytes(), 4096u);
  EXPECT_FALSE(MappedMemory(4096, MAP_SHARED, -1).valid());  // no file, and not anonymous
  EXPECT_FALSE(MappedMemory().valid());
}

}  // namespace
}  // namespace tidemark
