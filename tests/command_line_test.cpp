// SPDX-License-Identifier: Apache-2.0
// The command line as a person meets it: bad input gets one clear line and the documented exit
// code, signals end a run with everything kept, and a run cannot be overwritten by accident.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/command_line_fixture.h"
#include "tidemark/capture/chunk.h"
#include "tidemark/run/run_report.h"

namespace tidemark {
namespace {

TEST_F(CommandLine, RefusesWhatItDoesNotKnowByName) {
  expect_refused("run no_such_workload", 2, "no_such_workload");
  expect_refused("run synthetic_producer --no-such-flag", 2, "--no-such-flag");
  expect_refused("run synthetic_producer -p moon", 2, "moon");
  expect_refused("run synthetic_producer -d 7", 2, "--device 7");
  expect_refused("run synthetic_producer --case big", 2, "--case big");
  expect_refused("run synthetic_producer --record-bytes 48", 2, "--record-bytes 48");
  expect_refused("run synthetic_producer --rate fast", 2, "--rate fast");
  expect_refused("run synthetic_producer --policy sometimes", 2, "--policy sometimes");
  expect_refused("run synthetic_producer --policy nostream=drop", 2, "nostream");
  expect_refused("run synthetic_producer --keep-pages 1 --policy keep-last", 2, "--keep-pages 1");
  expect_refused("run synthetic_producer --lanes 64 --pool-bytes 65536", 2, "--pool-bytes 65536");
  expect_refused("run synthetic_producer --page-bytes 1000", 2, "--page-bytes 1000");
  expect_refused("run synthetic_producer --drain-threads 0", 2, "--drain-threads 0");
  expect_refused("run synthetic_producer --inject gremlins", 2, "gremlins");
  expect_refused("nonsense", 2, "nonsense");
  expect_refused("bench producer --sink drum", 2, "--sink: 'drum' is not memory or file");
}

TEST_F(CommandLine, RefusesDirectoriesThatAreNoRuns) {
  fs::create_directories(path("empty"));
  for (const char* command : {"check", "export", "recover"}) {
    expect_refused(fmt::format("{} empty", command), 2, "empty is not a run");
    expect_refused(fmt::format("{} missing", command), 2, "missing is not a run");
    expect_refused(command, 2, "no run found");
  }
}

TEST_F(CommandLine, RefusesAPrefixThatHoldsARunAndReplacesItOnlyWhenForced) {
  ASSERT_EQ(run("run synthetic_producer --records 100 --output-prefix a").exit_code, 0);
  const std::string before = read(path("a/run.json"));
  expect_refused("run synthetic_producer --records 100 --output-prefix a", 2, "a already holds");
  EXPECT_EQ(read(path("a/run.json")), before);
  ASSERT_EQ(run("run synthetic_producer --records 50 --output-prefix a --force").exit_code, 0);
  EXPECT_EQ(run("check a").exit_code, 0);
  EXPECT_NE(read(path("a/run.json")), before);
}

TEST_F(CommandLine, RefusesAnOutputPlaceThatCannotBeWritten) {
  std::ofstream(path("file")) << "not a directory";
  expect_refused("run synthetic_producer --records 100 --output-prefix file/run", 5, "file/run");
  expect_refused("run synthetic_producer --records 100 --output-prefix /proc/nowhere", 5,
                 "/proc/nowhere");
}

TEST_F(CommandLine, RefusesACaptureOfANewerFormatAndNamesBothVersions) {
  ASSERT_EQ(run("run synthetic_producer --records 100 --output-prefix a").exit_code, 0);
  std::fstream capture(path("a/capture.tide"), std::ios::in | std::ios::out | std::ios::binary);
  capture.seekp(offsetof(ChunkHeader, version_major));
  capture.put(static_cast<char>(kFormatMajor + 1));
  capture.close();
  expect_refused("check a", 2, "format 2");
  expect_refused("export a", 2, "format 2");
}

TEST_F(CommandLine, FullDiskKeepsWhatFitsAndSaysSo) {
  // A file size limit stands in for a full disk; the capture cannot grow beyond it.
  const Finished done = run("run synthetic_producer --lanes 2 --records 400000 --output-prefix a",
                            "ulimit -f 16384;");
  EXPECT_EQ(done.exit_code, 5) << done.error;
  EXPECT_NE(done.error.find("capture.tide"), std::string::npos) << done.error;
  const auto report = read_run_report(path("a"));
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->ledger_closes());
  const LaneCounts total = report->total();
  EXPECT_EQ(total.produced, 800'002u);
  EXPECT_GE(total.delivered, 250'000u) << "8 MiB hold 262,144 records without what closes a file";
  EXPECT_EQ(total.dropped, total.dropped_by[static_cast<std::size_t>(DropReason::kFileError)]);
  const Finished checked = run("check a");
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.error;
}

TEST_F(CommandLine, SignalsEndARunWithEverythingKept) {
  for (const int number : {SIGINT, SIGTERM}) {
    const std::string name = fmt::format("run{}", number);
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      if (::chdir(directory_.c_str()) != 0 || ::freopen("out.txt", "w", stdout) == nullptr)
        ::_exit(98);
      ::execl(TIDEMARK_EXECUTABLE, "tidemark", "run", "synthetic_producer", "--rate", "100000",
              "--seconds", "60", "--output-prefix", name.c_str(), nullptr);
      ::_exit(99);
    }
    // Until its capture has pages, which only a run under way has.
    for (int tries = 0; tries < 5000; ++tries) {
      std::error_code code;
      if (fs::file_size(path(name) + "/capture.tide", code) > 0 && !code) break;
      ::usleep(1000);
    }
    ::usleep(100'000);
    ::kill(pid, number);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + number);
    const auto report = read_run_report(path(name));
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->status, RunStatus::kInterrupted);
    EXPECT_TRUE(report->ledger_closes());
    EXPECT_GT(report->total().delivered, 0u);
    EXPECT_EQ(run("check " + name).exit_code, 0);
  }
}

TEST_F(CommandLine, ExportMakesWhatWasLeftOut) {
  ASSERT_EQ(run("run synthetic_producer --lanes 2 --records 300 --output-prefix a").exit_code, 0);
  EXPECT_FALSE(fs::exists(path("a/l2_swimlane_records.json")));
  const Finished done = run("export a l2_swimlane_records.json");
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "a/l2_swimlane_records.json\n");
  expect_refused("export a novel.json", 2, "novel.json");
  EXPECT_NE(read(path("a/l2_swimlane_records.json")).find("synthetic_producer.end"),
            std::string::npos);
}

TEST_F(CommandLine, JsonIsTheFileItWrites) {
  const Finished done = run("run synthetic_producer --records 100 --json --output-prefix a");
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, read(path("a/run.json")));
}

TEST_F(CommandLine, WhatIsDisabledCostsAFewInstructions) {
  // ./dev installs it, and takes this skip for a failure.
  if (::system("valgrind --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no valgrind";
  const Finished done = run("bench producer --disabled --json");
  ASSERT_EQ(done.exit_code, 0) << done.error;
  const auto number = [&](const std::string& name) {
    const std::string key = "\"" + name + "\": ";
    const auto at = done.out.find(key);
    EXPECT_NE(at, std::string::npos) << done.out;
    return at == std::string::npos ? 0 : std::stod(done.out.substr(at + key.size()));
  };
  EXPECT_GT(number("instructions_per_probe"), 0);
  EXPECT_LE(number("instructions_per_probe"), 3);
  // The worker asks three times: before the kernel, for its start and after it.
  EXPECT_GT(number("dump_instructions_per_part"), 0);
  EXPECT_LE(number("dump_instructions_per_part"), 12);
  for (const char* nothing : {"\"regions\": 0", "\"files\": 0", "\"threads\": 1"})
    EXPECT_NE(done.out.find(nothing), std::string::npos) << done.out;
}

// A file that is larger than memory stands in for whatever else may throw.
TEST_F(CommandLine, AnExceptionIsALineAndAnExitCode) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more memory than the limit leaves";
#endif
  ASSERT_EQ(run("run vector_example --dump-tensor --output-prefix a").exit_code, 0);
  ASSERT_EQ(run("dump a --export golden --format npy").exit_code, 0);
  fs::resize_file(path("golden/t0_after_arg2.npy"), 4ull << 30);
  const Finished done = run("dump diff a golden", "ulimit -v 200000;");
  EXPECT_EQ(done.exit_code, 4) << done.out << done.error;
  EXPECT_NE(done.error.find("tidemark: out of memory"), std::string::npos) << done.error;
  EXPECT_EQ(std::count(done.error.begin(), done.error.end(), '\n'), 1) << done.error;
}

}  // namespace
}  // namespace tidemark
