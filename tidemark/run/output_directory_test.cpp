// SPDX-License-Identifier: Apache-2.0
// A directory belongs to one run: claimed once, given back if the run never began, replaced only by
// a run that has started.
#include "tidemark/run/output_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

RunReport report_of_run(std::uint64_t id) {
  RunReport report;
  report.run_id = id;
  report.workload = "work";
  report.case_name = "default";
  report.platform = "sim";
  report.host = {.pid = 4711, .start_time = 1};
  report.host_name = "box";
  report.region_path = "/nonexistent/region";
  return report;
}

class DirectoryClaimTest : public testing::Test {
 protected:
  static std::vector<std::string> names_in(const std::string& path) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  samples::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("deep/er/run");
};

TEST_F(DirectoryClaimTest, WhatWasMadeGoesAgainUnlessItIsKept) {
  {
    const auto claim = DirectoryClaim::make({.path = path_ + "/"}, report_of_run(1));
    ASSERT_TRUE(claim) << claim.error().message;
    EXPECT_EQ(claim->path(), path_);
    EXPECT_EQ(names_in(path_), std::vector<std::string>{"run.json"});
    struct stat info {};
    ASSERT_EQ(::stat((path_ + "/run.json").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
  }
  EXPECT_FALSE(fs::exists(directory_.file("deep")));
  {
    auto claim = DirectoryClaim::make({.path = path_}, report_of_run(1));
    ASSERT_TRUE(claim);
    claim->keep();
  }
  EXPECT_EQ(read_run_report(path_)->run_id, 1u);
}

TEST_F(DirectoryClaimTest, ThreadsThatClaimOneDirectoryGetItOnce) {
  for (std::uint64_t round = 0; round < 50; ++round) {
    std::atomic<std::uint32_t> won{0}, refused{0};
    std::vector<std::thread> threads;
    for (std::uint64_t id = 1; id <= 4; ++id)
      threads.emplace_back([&, id] {
        auto claim = DirectoryClaim::make({.path = path_}, report_of_run(id));
        if (!claim) {
          ++refused;
          EXPECT_EQ(claim.error().kind, ErrorKind::kUsage) << claim.error().message;
          EXPECT_NE(claim.error().message.find("host process 4711 on box"), std::string::npos)
              << claim.error().message;
          return;
        }
        ++won;
        claim->keep();
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(won, 1u);
    EXPECT_EQ(refused, 3u);
    EXPECT_EQ(names_in(path_), std::vector<std::string>{"run.json"});
    fs::remove_all(directory_.file("deep"));
  }
}

TEST_F(DirectoryClaimTest, AnOldRunComesBackIfTheNewOneNeverStarts) {
  RunReport old = report_of_run(1);
  old.status = RunStatus::kOk;
  old.region_path.clear();
  fs::create_directories(path_ + "/tensor_dump");
  ASSERT_TRUE(write_run_report(path_, old));
  for (const char* name : {"capture.tide", "deps.json", "tensor_dump/x.bin", "notes.txt"})
    samples::write_bytes(path_ + "/" + name, {1, 2, 3});
  {
    const auto claim = DirectoryClaim::make({.path = path_, .force = true}, report_of_run(2));
    ASSERT_TRUE(claim) << claim.error().message;
    EXPECT_EQ(read_run_report(path_)->run_id, 2u);
    EXPECT_FALSE(fs::exists(path_ + "/capture.tide"));
    EXPECT_TRUE(fs::exists(path_ + "/notes.txt")) << "not of a run";
  }
  EXPECT_EQ(read_run_report(path_)->run_id, 1u);
  EXPECT_EQ(names_in(path_), (std::vector<std::string>{"capture.tide", "deps.json", "notes.txt",
                                                       "run.json", "tensor_dump"}));
  {
    auto claim = DirectoryClaim::make({.path = path_, .force = true}, report_of_run(3));
    ASSERT_TRUE(claim);
    claim->remove_replaced();
    claim->keep();
  }
  EXPECT_EQ(names_in(path_), (std::vector<std::string>{"notes.txt", "run.json"}));
  EXPECT_EQ(read_run_report(path_)->run_id, 3u);
}

TEST_F(DirectoryClaimTest, DefaultNamesAreTakenInTurn) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_.path());
  std::vector<DirectoryClaim> claims;
  for (std::uint64_t id = 1; id <= 5; ++id) {
    auto claim = DirectoryClaim::make({}, report_of_run(id));
    EXPECT_TRUE(claim);
    EXPECT_TRUE(claim->path().starts_with("outputs/work_default_")) << claim->path();
    claims.push_back(std::move(*claim));
  }
  EXPECT_EQ(names_in("outputs").size(), 5u);
  claims.clear();
  EXPECT_TRUE(names_in("outputs").empty());
  fs::current_path(before);
}

}  // namespace
}  // namespace tidemark
