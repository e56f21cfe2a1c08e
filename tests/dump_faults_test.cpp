// SPDX-License-Identifier: Apache-2.0
// A dump whose disk is full and a dump whose host is killed: what there is afterwards is whole and
// true, and what is not there is counted.
#include <fcntl.h>
#include <signal.h>

#include "tests/dump_fixture.h"
#include "workloads/bgemm.h"
#include "workloads/paged_attention.h"
#include "workloads/vector_example.h"

namespace tidemark {
namespace {

class DumpFaults : public DumpFixture {
 protected:
  static LaneCounts dump_counts(const RunReport& report) {
    LaneCounts sum;
    for (const LaneReport& lane : report.lanes)
      if (lane.stream == "dump") sum.add(lane.counts);
    return sum;
  }

  // Kills the host of a run, and nobody else, so long after its capture is there.
  void kill_host(const std::string& arguments, unsigned delay_us) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      std::vector<std::string> words{"tidemark"};
      std::stringstream list(arguments);
      for (std::string word; list >> word;) words.push_back(word);
      std::vector<char*> pointers;
      for (auto& word : words) pointers.push_back(word.data());
      pointers.push_back(nullptr);
      const int out = ::open(path("killed.txt").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
      if (::chdir(directory_.c_str()) != 0 || out < 0) ::_exit(98);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
      ::execv(TIDEMARK_EXECUTABLE, pointers.data());
      ::_exit(99);
    }
    for (int tries = 0; tries < 30'000 && !fs::exists(path("r/capture.tide")); ++tries)
      ::usleep(1000);
    ::usleep(delay_us);
    ::kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    hits_ += WIFSIGNALED(status) ? 1 : 0;
  }

  std::size_t hits_ = 0;
};

TEST_F(DumpFaults, FullDiskKeepsWholeFramesAndCountsTheRest) {
  const SerialExecutor expected = serial<Bgemm>("Small");
  const std::size_t all = expected.tensors.size() + expected.scalars.size();
  EXPECT_EQ(all, 192u);
  std::size_t previous = 0;
  // A file size limit stands in for a full disk, in units of 512 bytes; the whole dump has 3.3 MiB.
  // The memory of the device is a file too, so its rings are small.
  for (const int blocks : {5120, 5632, 6144}) {
    SCOPED_TRACE(blocks);
    const Finished done = run(
        "run bgemm --case Small --dump-tensor --page-bytes 4096 --pool-bytes 262144 --ring-heap "
        "131072 --ring-task-window 64 --ring-dep-pool 64 --tensormap-pool 1024 --output-prefix r "
        "--force",
        fmt::format("ulimit -f {};", blocks));
    EXPECT_EQ(done.exit_code, 5) << done.error;
    EXPECT_NE(done.error.find("capture.tide"), std::string::npos) << done.error;
    const auto report = read_run_report(path("r"));
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->exit_code, 5);
    EXPECT_EQ(report->tasks_completed, 64u);
    EXPECT_TRUE(json_of("r/run.json")["result"]["passed"].GetBool());
    EXPECT_TRUE(report->ledger_closes());
    const LaneCounts counts = dump_counts(*report);
    EXPECT_EQ(counts.produced, all);
    EXPECT_GT(counts.dropped, 0u);
    EXPECT_EQ(counts.dropped, counts.dropped_by[static_cast<std::size_t>(DropReason::kFileError)]);
    const std::size_t found = expect_truth("r", expected, Share::kPart);
    EXPECT_EQ(found, counts.delivered);
    EXPECT_GE(found, previous) << "more space holds more";
    previous = found;
    run_ok("export r");
    expect_manifest("r", expected, found);
    const auto json = json_of("r/tensor_dump/tensor_dump.json");
    EXPECT_EQ(json["dropped_records"].GetUint64(), counts.dropped);
    run_ok("dump r");
    EXPECT_NE(text_.find(fmt::format("{} arguments", found)), std::string::npos) << text_;
    EXPECT_NE(text_.find(fmt::format("{} dropped", counts.dropped)), std::string::npos) << text_;
    run_ok("check r");
  }
}

TEST_F(DumpFaults, KilledHostLeavesWholeFramesThatRecoverFinds) {
  const SerialExecutor attention = serial<PagedAttention>("Small2");
  const SerialExecutor vector = serial<VectorExample>("default");
  std::size_t partial = 0, kills = 0;
  for (const char* platform : {"sim", "a5sim", "a2a3sim"})
    for (const bool is_vector : {false, true})
      for (const unsigned delay_us : {0u, 15'000u, 60'000u, 140'000u}) {
        SCOPED_TRACE(fmt::format("{} vector {} after {} us", platform, is_vector, delay_us));
        // In the smaller pool cores wait for the drainer, in the larger it is behind them.
        const bool is_sim = std::string_view(platform) == "sim";
        const std::uint64_t pages = kills % 2 == 0 ? 2000 : is_sim ? 16 : 256;
        fs::remove_all(path("r"));
        kill_host(fmt::format("run {} -p {} --dump-tensor --page-bytes 4096 --pool-bytes {} "
                              "--inject drain_slow={} --output-prefix r",
                              is_vector ? "vector_example" : "paged_attention --case Small2",
                              platform, pages * 4096, is_vector ? 3000 : 20'000),
                  delay_us);
        ++kills;
        run_ok("recover r");
        const auto report = read_run_report(path("r"));
        ASSERT_TRUE(report.has_value());
        EXPECT_TRUE(report->ledger_closes());
        const SerialExecutor& expected = is_vector ? vector : attention;
        const std::size_t found = expect_truth("r", expected, Share::kPart);
        const LaneCounts counts = dump_counts(*report);
        EXPECT_EQ(found, counts.delivered + counts.recovered);
        expect_manifest("r", expected, found);
        if (found == 0) {
          EXPECT_TRUE(json_of("r/tensor_dump/tensor_dump.json").HasMember("note"));
        }
        partial += found > 0 && found < expected.tensors.size() + expected.scalars.size();
        run_ok("check r");
        if (HasFailure()) return;
      }
  EXPECT_GT(hits_, 0u) << "no run was killed before it ended";
  RecordProperty("killed", static_cast<int>(hits_));
  RecordProperty("partial", static_cast<int>(partial));
}

}  // namespace
}  // namespace tidemark
