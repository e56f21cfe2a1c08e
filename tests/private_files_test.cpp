// SPDX-License-Identifier: Apache-2.0
// Files that commands write are private unless --file-mode says otherwise, whatever the umask is.
#include <sys/stat.h>

#include <set>

#include <gtest/gtest.h>

#include "tests/command_line_fixture.h"

namespace tidemark {
namespace {

class PrivateFiles : public CommandLine {
 protected:
  static mode_t mode_of(const std::string& file) {
    struct stat info {};
    EXPECT_EQ(::stat(file.c_str(), &info), 0) << file;
    return info.st_mode & 07777;
  }
  // Every file and folder below, and that there are some.
  void expect_modes(const std::string& below, mode_t file_mode, mode_t directory_mode) {
    std::size_t found = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path(below))) {
      EXPECT_EQ(mode_of(entry.path().string()), entry.is_directory() ? directory_mode : file_mode)
          << entry.path();
      EXPECT_NE(entry.path().extension(), ".part");
      ++found;
    }
    EXPECT_GT(found, 0u) << below;
  }
  static constexpr const char* kRun =
      "run vector_example --enable-l2-swimlane --enable-dep-gen --enable-scope-stats --dump-tensor";
};

TEST_F(PrivateFiles, AreTheDefaultUnderAnyUmask) {
  for (const char* umask : {"umask 000;", "umask 022;", "umask 077;"}) {
    SCOPED_TRACE(umask);
    fs::remove_all(path("r"));
    ASSERT_EQ(run(fmt::format("{} --output-prefix r", kRun), umask).exit_code, 0);
    expect_modes("r", 0600, 0700);
  }
}

TEST_F(PrivateFiles, ShareWhatTheyAreToldToShare) {
  ASSERT_EQ(run(fmt::format("{} --output-prefix r --file-mode 0644", kRun), "umask 077;").exit_code,
            0);
  expect_modes("r", 0644, 0755);
  ASSERT_EQ(run("export r deps.json --file-mode 640").exit_code, 0);
  EXPECT_EQ(mode_of(path("r/deps.json")), 0640u);
  ASSERT_EQ(run("dump r --export new/files --format npy --file-mode 0640").exit_code, 0);
  expect_modes("new", 0640, 0750);
  ASSERT_EQ(run("swimlane r --perfetto t.pftrace --file-mode 0664", "umask 077;").exit_code, 0);
  EXPECT_EQ(mode_of(path("t.pftrace")), 0664u);
  ASSERT_EQ(run("deps r --dot d.dot").exit_code, 0);
  EXPECT_EQ(mode_of(path("d.dot")), 0600u);
}

TEST_F(PrivateFiles, RefuseModesThatCannotBe) {
  for (const char* mode : {"0999", "rw", "", "0700", "01644", "0400", "-1", "0x1B4"})
    expect_refused(fmt::format("export --file-mode '{}'", mode), 2, "--file-mode");
}

// A part that a killed writer left goes with the next one; another writer's part stays.
TEST_F(PrivateFiles, LeaveNoPartsOfKilledWriters) {
  ASSERT_EQ(run(fmt::format("{} --output-prefix r", kRun)).exit_code, 0);
  std::ofstream(path("r/deps.json.4711.0.part")) << "half";
  std::ofstream(path("r/name_map.json.4711.0.part")) << "half";
  ASSERT_EQ(run("export r deps.json").exit_code, 0);
  EXPECT_FALSE(fs::exists(path("r/deps.json.4711.0.part")));
  EXPECT_TRUE(fs::exists(path("r/name_map.json.4711.0.part")));
}

}  // namespace
}  // namespace tidemark
