// SPDX-License-Identifier: Apache-2.0
// A dump whose disk is full and a dump whose host is killed: what there is afterwards is whole and
// true, and what is not there is counted.
#include "tests/hang_fixture.h"
#include "workloads/bgemm.h"
#include "workloads/paged_attention.h"
#include "workloads/vector_example.h"

namespace tidemark {
namespace {

class DumpFaults : public HangFixture {
 protected:
  static LaneCounts dump_counts(const RunReport& report) {
    LaneCounts sum;
    for (const LaneReport& lane : report.lanes)
      if (lane.stream == "dump") sum.add(lane.counts);
    return sum;
  }
};

TEST_F(DumpFaults, FullDiskKeepsWholeFramesAndCountsTheRest) {
  const SerialExecutor expected = serial<Bgemm>("Small");
  const std::size_t all = expected.tensors.size() + expected.scalars.size();
  EXPECT_EQ(all, 224u);
  std::size_t previous = 0;
  // A file size limit stands in for a full disk, in units of 512 bytes; the whole dump has 3.3 MiB.
  // The memory of the device is a file too, so its rings are small.
  for (const int blocks : {5120, 5632, 6144}) {
    SCOPED_TRACE(blocks);
    const Finished done = run(
        "run bgemm --case Small --dump-tensor --page-bytes 4096 --pool-bytes 262144 --ring-heap "
        "131072 --ring-task-window 64 --ring-dep-pool 64 --ring-args 16384 --tensormap-pool 1024 "
        "--output-prefix r --force",
        fmt::format("ulimit -f {};", blocks));
    EXPECT_EQ(done.exit_code, 5) << done.error;
    EXPECT_NE(done.error.find("capture.tide"), std::string::npos) << done.error;
    const auto report = read_run_report(path("r"));
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->exit_code, 5);
    EXPECT_EQ(report->tasks.completed, 64u);
    EXPECT_TRUE(json_of("r/run.json")["result"]["passed"].GetBool());
    EXPECT_TRUE(report->ledger_closes());
    const LaneCounts counts = dump_counts(*report);
    EXPECT_EQ(counts.produced, all);
    EXPECT_GT(counts.dropped, 0u);
    EXPECT_EQ(counts.dropped, counts.dropped_by[static_cast<std::size_t>(DropReason::kFileError)]);
    const std::size_t found = expect_truth("r", expected, Share::kPart);
    EXPECT_EQ(found, counts.delivered);
    EXPECT_GT(found, all / 4) << "most of the dump fits";
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
    for (const bool is_vector : {false, true}) {
      const SerialExecutor& expected = is_vector ? vector : attention;
      const auto command = [&](std::uint64_t pool_pages) {
        return fmt::format("run {} -p {} --dump-tensor --page-bytes 4096 --pool-bytes {}",
                           is_vector ? "vector_example" : "paged_attention --case Small2", platform,
                           pool_pages * 4096);
      };
      const std::uint64_t pages = count_point(FaultPoint::kDrain, command(2000));
      ASSERT_GE(pages, 8u);
      for (const std::uint64_t at : {std::uint64_t{1}, pages / 4, pages / 2}) {
        SCOPED_TRACE(fmt::format("{} vector {} at page {} of {}", platform, is_vector, at, pages));
        // In the smaller pool cores wait for the drainer, in the larger it is behind them.
        const bool is_sim = std::string_view(platform) == "sim";
        const std::uint64_t pool = kills % 2 == 0 ? 2000 : is_sim ? 16 : 256;
        AuditWords audit(path("audit"));
        kill_and_recover(command(pool) + " --inject drain_slow=1000",
                         fmt::format("kill@drain:{}", at), audit);
        if (HasFatalFailure()) return;
        ++kills;
        const auto report = read_run_report(path("r"));
        EXPECT_TRUE(report->ledger_closes());
        const RunAudit audited = expect_everything_accepted(*report, audit, 0);
        const std::size_t found = expect_truth("r", expected, Share::kPart);
        const std::uint64_t accepted = accepted_of("dump", *report, audit);
        // The first frame of the smaller pool may be longer than what was free at its first page.
        EXPECT_TRUE(at == 1 || (accepted > 0 && audited.recovered > 0)) << accepted << " accepted";
        EXPECT_GE(found, accepted);
        EXPECT_LE(found, accepted + open_lanes_of("dump", *report));
        expect_manifest("r", expected, found);
        partial += found < expected.tensors.size() + expected.scalars.size();
        if (HasFailure()) return;
      }
    }
  EXPECT_EQ(kills, 18u);
  EXPECT_GE(partial, 3u) << "cores that waited for a drainer that is gone lose what comes then";
}

}  // namespace
}  // namespace tidemark
