// SPDX-License-Identifier: Apache-2.0
// Files of a run have the mode that was asked for, whatever the umask says.
#include "tidemark/base/file_mode.h"

#include <stdlib.h>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

class FileModeTest : public testing::Test {
 protected:
  FileModeTest() {
    char name[] = "/tmp/tidemark_file_mode_XXXXXX";
    folder_ = ::mkdtemp(name);
    path_ = folder_ + "/file";
  }
  ~FileModeTest() override {
    ::umask(umask_);
    set_file_mode(kPrivateFileMode);
    ::unlink(path_.c_str());
    ::rmdir((folder_ + "/inner").c_str());
    ::rmdir(folder_.c_str());
  }
  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }
  std::string folder_, path_;
  mode_t umask_ = ::umask(0);
};

TEST_F(FileModeTest, BeginsPrivateUnderAnOpenUmask) {
  EXPECT_TRUE(create_file(path_, O_WRONLY | O_EXCL).valid());
  EXPECT_EQ(mode_of(path_), 0600u);
  EXPECT_TRUE(create_directory(folder_ + "/inner"));
  EXPECT_EQ(mode_of(folder_ + "/inner"), 0700u);
}

TEST_F(FileModeTest, IsWhatWasSetUnderAClosedUmask) {
  ::umask(077);
  set_file_mode(0644);
  EXPECT_TRUE(create_file(path_, O_WRONLY).valid());
  EXPECT_EQ(mode_of(path_), 0644u);
  EXPECT_TRUE(create_directory(folder_ + "/inner"));
  EXPECT_EQ(mode_of(folder_ + "/inner"), 0755u);
  set_file_mode(0640);
  EXPECT_EQ(directory_mode(), 0750u);
}

TEST_F(FileModeTest, MakesMissingFoldersOnTheWayAndLeavesOthersAsTheyAre) {
  ASSERT_TRUE(create_directory(folder_ + "/inner"));
  ASSERT_EQ(::chmod((folder_ + "/inner").c_str(), 0751), 0);
  set_file_mode(0640);
  const std::string deep = folder_ + "/inner/a//b/";
  EXPECT_TRUE(create_directories(deep));
  EXPECT_TRUE(create_directories(deep));
  EXPECT_EQ(mode_of(folder_ + "/inner"), 0751u);
  EXPECT_EQ(mode_of(folder_ + "/inner/a"), 0750u);
  EXPECT_EQ(mode_of(deep), 0750u);
  ASSERT_TRUE(create_file(path_, O_WRONLY).valid());
  EXPECT_FALSE(create_directories(path_));
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_FALSE(create_directories(path_ + "/a/b"));
  ::rmdir(deep.c_str());
  ::rmdir((folder_ + "/inner/a").c_str());
}

TEST_F(FileModeTest, RefusalsKeepTheReason) {
  EXPECT_TRUE(create_file(path_, O_WRONLY).valid());
  EXPECT_FALSE(create_file(path_, O_WRONLY | O_EXCL).valid());
  EXPECT_EQ(errno, EEXIST);
  EXPECT_FALSE(create_directory(folder_));
  EXPECT_EQ(errno, EEXIST);
}

}  // namespace
}  // namespace tidemark
