// SPDX-License-Identifier: Apache-2.0
// A file comes into place whole, and two writers of one path do not meet.
#include "tidemark/export/part_file.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark {
namespace {

std::string text_of(const std::string& path) {
  const auto bytes = samples::read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

std::size_t files_in(const std::string& folder) {
  const std::filesystem::directory_iterator begin(folder), end;
  return static_cast<std::size_t>(std::distance(begin, end));
}

TEST(PartFile, IsNotSeenBeforeItIsWhole) {
  const samples::TemporaryDirectory directory;
  auto file = PartFile::create(directory.file("a/b/file"));
  ASSERT_TRUE(file) << file.error().message;
  file->write("text");
  EXPECT_FALSE(std::filesystem::exists(directory.file("a/b/file")));
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(text_of(directory.file("a/b/file")), "text");
  EXPECT_EQ(files_in(directory.file("a/b")), 1u);
}

TEST(PartFile, TwoWritersOfOnePathDoNotMeet) {
  const samples::TemporaryDirectory directory;
  auto one = PartFile::create(directory.file("file"));
  auto other = PartFile::create(directory.file("file"));
  ASSERT_TRUE(one && other);
  one->write("one");
  other->write("another");
  ASSERT_TRUE(one->finish());
  EXPECT_EQ(text_of(directory.file("file")), "one");
  ASSERT_TRUE(other->finish());
  EXPECT_EQ(text_of(directory.file("file")), "another");
  EXPECT_EQ(files_in(directory.path()), 1u);
}

TEST(PartFile, WithoutFinishNothingIsLeft) {
  const samples::TemporaryDirectory directory;
  {
    auto file = PartFile::create(directory.file("file"));
    ASSERT_TRUE(file);
    file->write("text");
  }
  EXPECT_EQ(files_in(directory.path()), 0u);
}

TEST(PartFile, WhatKilledWritersLeftGoesAndWhatLivingOnesWriteStays) {
  const samples::TemporaryDirectory directory;
  samples::write_bytes(directory.file("file.1.0.part"), {1, 2, 3});
  samples::write_bytes(directory.file("file2.1.0.part"), {1, 2, 3});
  auto living = PartFile::create(directory.file("file"));
  ASSERT_TRUE(living);
  EXPECT_FALSE(std::filesystem::exists(directory.file("file.1.0.part")));
  EXPECT_TRUE(std::filesystem::exists(directory.file("file2.1.0.part"))) << "of another path";
  auto next = PartFile::create(directory.file("file"));
  ASSERT_TRUE(next);
  living->write("living");
  EXPECT_TRUE(living->finish());
  EXPECT_EQ(text_of(directory.file("file")), "living");
}

}  // namespace
}  // namespace tidemark
