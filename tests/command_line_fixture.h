// SPDX-License-Identifier: Apache-2.0
// Test support: runs the executable in a directory of the test's own and keeps what it printed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace tidemark {

namespace fs = std::filesystem;

struct Finished {
  int exit_code = 0;
  std::string out;
  std::string error;
};

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');  // of an instance: "Name/0"
    directory_ = fmt::format("{}/cli_{}_{}", testing::TempDir(), ::getpid(), name);
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  static std::string read(const std::string& file) {
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  // Arguments are words without spaces; `before` runs in a shell in front of the command.
  Finished run(const std::string& arguments, const std::string& before = "") {
    const std::string command = fmt::format("cd '{}'; {} '{}' {} >out.txt 2>error.txt", directory_,
                                            before, TIDEMARK_EXECUTABLE, arguments);
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(path("out.txt")),
            read(path("error.txt"))};
  }

  void expect_refused(const std::string& arguments, int exit_code, const std::string& names) {
    const Finished done = run(arguments);
    EXPECT_EQ(done.exit_code, exit_code) << arguments << "\n" << done.error;
    EXPECT_NE(done.error.find(names), std::string::npos) << arguments << "\n" << done.error;
    const auto lines = std::count(done.error.begin(), done.error.end(), '\n');
    EXPECT_LE(lines, 2) << done.error;
    EXPECT_EQ(done.out, "") << arguments;
  }

  std::string directory_;
};

}  // namespace tidemark
