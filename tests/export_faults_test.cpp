// SPDX-License-Identifier: Apache-2.0
// Exports that cannot be finished, and exports that meet: what is in place is whole, nothing half
// written is left, and the exit code says which.
#include <sys/stat.h>

#include "tests/child_process.h"
#include "tests/streams_fixture.h"

namespace tidemark {
namespace {

class ExportFaults : public Streams {
 protected:
  static constexpr const char* kFile = "a/l2_swimlane_records.json";

  void SetUp() override {
    Streams::SetUp();
    run_ok("run synthetic_producer --lanes 2 --records 3000 --file-mode 644 --output-prefix a");
    run_ok("export a l2_swimlane_records.json --file-mode 644");
    whole_ = read(path(kFile));
    ASSERT_GT(whole_.size(), 200'000u);
  }
  std::vector<std::string> parts() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(path("a")))
      if (entry.path().extension() == ".part") found.push_back(entry.path().string());
    return found;
  }

  std::string whole_;
};

// A limit on file sizes replaces a full disk: a write gives less than it was given, then none.
TEST_F(ExportFaults, AFullDiskLeavesTheOldFileAndNoPart) {
  for (const int blocks : {1, 100, 400}) {  // of 512 bytes
    const Finished done =
        run("export a l2_swimlane_records.json", fmt::format("ulimit -f {};", blocks));
    EXPECT_EQ(done.exit_code, 5) << blocks << done.out << done.error;
    EXPECT_NE(done.error.find("l2_swimlane_records.json"), std::string::npos) << done.error;
    EXPECT_EQ(done.out, "");
    EXPECT_EQ(read(path(kFile)), whole_) << "what was there is as it was";
    EXPECT_TRUE(parts().empty()) << parts().front();
  }
  run_ok("export a l2_swimlane_records.json");
  EXPECT_EQ(read(path(kFile)), whole_);
}

TEST_F(ExportFaults, ManyAtOnceGiveOneWholeFile) {
  fs::remove(path(kFile));
  std::vector<pid_t> exports;
  for (int i = 0; i < 6; ++i)
    exports.push_back(start_program(
        {TIDEMARK_EXECUTABLE, "export", path("a"), "l2_swimlane_records.json"}, path("log")));
  for (const pid_t pid : exports) {
    const auto end = wait_for(pid, 60'000);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit_code, 0) << read(path("log"));
    EXPECT_EQ(end->signal, 0);
  }
  EXPECT_EQ(read(path(kFile)), whole_);
  EXPECT_TRUE(parts().empty()) << parts().front();
}

// As somebody who may read the run and not write to it. Root may do anything, so it becomes nobody.
TEST_F(ExportFaults, IntoADirectoryThatMayNotBeWrittenIsExitCodeFive) {
  ASSERT_EQ(run("run hang_kernel --scheduler-timeout-ms 200 --enable-l2-swimlane --file-mode 644 "
                "--output-prefix h")
                .exit_code,
            3);
  fs::copy_file(TIDEMARK_EXECUTABLE, path("tidemark"));
  ::chmod(path("tidemark").c_str(), 0755);
  ::chmod(directory_.c_str(), 0755);
  const auto as_reader = [&](const std::string& arguments) {
    const std::string who =
        ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
    for (const char* run : {"a", "h"}) ::chmod(path(run).c_str(), 0555);
    const int status = std::system(
        fmt::format("cd '{}'; {} ./tidemark {} >out.txt 2>error.txt", directory_, who, arguments)
            .c_str());
    for (const char* run : {"a", "h"}) ::chmod(path(run).c_str(), 0755);
    return Finished{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(path("out.txt")),
                    read(path("error.txt"))};
  };
  const Finished refused = as_reader("export a l2_swimlane_records.json");
  EXPECT_EQ(refused.exit_code, 5) << refused.out << refused.error;
  EXPECT_NE(refused.error.find("Permission denied"), std::string::npos) << refused.error;
  EXPECT_NE(refused.error.find("a/l2_swimlane_records.json"), std::string::npos) << refused.error;
  EXPECT_EQ(read(path(kFile)), whole_);
  EXPECT_TRUE(parts().empty());
  // What only reads works all the same.
  EXPECT_EQ(as_reader("check a").exit_code, 0);
  EXPECT_EQ(as_reader("swimlane a").exit_code, 0);
  const Finished hang = as_reader("hang h");
  EXPECT_EQ(hang.exit_code, 0) << hang.error;
  EXPECT_EQ(hang.out, read(path("h/hang.txt")));
}

}  // namespace
}  // namespace tidemark
