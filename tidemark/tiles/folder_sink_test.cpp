// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/folder_sink.h"

#include <sys/stat.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "tidemark/base/file_mode.h"
#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark {
namespace {

using samples::TemporaryDirectory;

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

TEST(FolderSink, WritesFilesThatOnlyTheirOwnerReads) {
  const TemporaryDirectory directory;
  const std::string folder = directory.file("site/of run");
  auto sink = FolderSink::create(folder).value();
  ASSERT_TRUE(sink.put_text("t/3/0/17", "leaf"));
  ASSERT_TRUE(sink.put_text("t/3/0/17", "le"));
  ASSERT_TRUE(sink.put_text("index.json", "{}"));
  const auto leaf = samples::read_bytes(folder + "/t/3/0/17");
  EXPECT_EQ(std::string(leaf.begin(), leaf.end()), "le");
  EXPECT_EQ(mode_of(folder + "/t/3/0/17"), 0600u);
  EXPECT_EQ(mode_of(folder + "/t/3"), 0700u);
  EXPECT_EQ(sink.file_count(), 3u);
  EXPECT_EQ(sink.byte_count(), 8u);
}

TEST(FolderSink, HasTheModeOfTheFilesOfRuns) {
  const TemporaryDirectory directory;
  set_file_mode(0644);
  const std::string folder = directory.file("site");
  auto sink = FolderSink::create(folder).value();
  EXPECT_TRUE(sink.put_text("dir/0", "x"));
  set_file_mode(kPrivateFileMode);
  EXPECT_EQ(mode_of(folder + "/dir/0"), 0644u);
  EXPECT_EQ(mode_of(folder + "/dir"), 0755u);
}

TEST(FolderSink, AnIndexOfAnOlderSetIsGoneBeforeItsTilesChange) {
  const TemporaryDirectory directory;
  const std::string folder = directory.file("site");
  ASSERT_TRUE(FolderSink::create(folder).value().put_text("index.json", "{}"));
  ASSERT_TRUE(FolderSink::create(folder));
  EXPECT_FALSE(std::filesystem::exists(folder + "/index.json"));
}

TEST(FolderSink, SaysWhatTheSystemRefuses) {
  const TemporaryDirectory directory;
  samples::write_bytes(directory.file("file"), {1});
  const auto made = FolderSink::create(directory.file("file/site"));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("file/site"), std::string::npos) << made.error().message;
  const std::string folder = directory.file("site");
  auto sink = FolderSink::create(folder).value();
  std::filesystem::create_directory(folder + "/index.json");
  EXPECT_FALSE(sink.put_text("index.json", "{}"));
}

TEST(FolderSink, NamesLeadNowhereElse) {
  for (const char* name : {"index.json", "t/0/0/0", "doc/overview", "a-b/c.d"})
    EXPECT_TRUE(is_tile_name(name)) << name;
  for (const char* name : {"", "/", "/etc/passwd", "..", "t/../x", "t//x", "t/", "A", "a b", ".x",
                           "t/.x", "a\\b", "a%2e", "a:b"})
    EXPECT_FALSE(is_tile_name(name)) << name;
}

}  // namespace
}  // namespace tidemark
