// SPDX-License-Identifier: Apache-2.0
// The file of a core dump: nameless until it is kept, then whole, private, or not there at all.
#include "tidemark/device/core_file.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "tidemark/base/file_mode.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/base/whole_io.h"

namespace tidemark {
namespace {

class CoreFileTest : public ::testing::Test {
 protected:
  CoreFileTest() : file_(std::move(*CoreFile::create())) {}
  void fill(std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) content_.push_back(static_cast<unsigned char>(i * 7));
    ASSERT_TRUE(write_at(file_.fd(), 0, content_.data(), content_.size()));
  }
  samples::TemporaryDirectory home_;
  CoreFile file_;
  std::vector<unsigned char> content_;
};

TEST_F(CoreFileTest, IsKeptWholeAndPrivate) {
  fill(600'001);
  EXPECT_EQ(file_.bytes(), 600'001u);
  ASSERT_TRUE(file_.keep(home_.file("device.core")));
  EXPECT_EQ(samples::read_bytes(home_.file("device.core")), content_);
  EXPECT_EQ(samples::read_bytes(file_.path()), content_) << "another program may read it, too";
  struct stat info {};
  ASSERT_EQ(::stat(home_.file("device.core").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_FALSE(std::filesystem::exists(home_.file("device.core.part")));
}

TEST_F(CoreFileTest, HasTheModeOfTheRunsFiles) {
  set_file_mode(0640);
  fill(10);
  const auto kept = file_.keep(home_.file("device.core"));
  set_file_mode(kPrivateFileMode);
  ASSERT_TRUE(kept);
  struct stat info {};
  ASSERT_EQ(::stat(home_.file("device.core").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(CoreFileTest, OnAFullDiskNothingIsLeft) {
  fill(600'000);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 300'000, .rlim_max = before.rlim_max};
  const auto old = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto kept = file_.keep(home_.file("device.core"));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, old);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().kind, ErrorKind::kFile);
  EXPECT_TRUE(std::filesystem::is_empty(home_.path()));
}

TEST_F(CoreFileTest, WithoutAFolderThereIsAnError) {
  fill(10);
  EXPECT_FALSE(file_.keep(home_.file("missing/device.core")));
}

}  // namespace
}  // namespace tidemark
