// SPDX-License-Identifier: Apache-2.0
// A disk that is full at the worst moment: the run is closed and accounts for every number, and a
// recovery removes nothing before its replacement is whole.
#include "tests/promise_fixture.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/session/live_view.h"
#include "tidemark/session/stale_regions.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kDiskMib = 160;

// What producers were refused after their host was gone was never accepted.
void expect_nothing_dropped(const RunReport& report) {
  const LaneCounts total = report.total();
  EXPECT_EQ(total.dropped, total.dropped_by[static_cast<std::size_t>(DropReason::kHostGone)]);
}

struct Filling {
  const char* name;
  const char* arguments;
  std::uint64_t produced;  // 0: the workload decides
};

void PrintTo(const Filling& filling, std::ostream* out) { *out << filling.name; }

constexpr Filling kFillings[] = {
    {"Pages64K", "synthetic_producer --lanes 2 --records 3500000", 7'000'002},
    {"Pages1M", "synthetic_producer --lanes 2 --records 3500000 --page-bytes 1048576", 7'000'002},
    {"Pages4MFourThreads",
     "synthetic_producer --lanes 4 --records 2500000 --page-bytes 4194304 --pool-bytes 67108864 "
     "--drain-threads 4",
     10'000'002},
    {"Lanes1700",
     "synthetic_producer --lanes 1700 --records 5000 --page-bytes 4096 --pool-bytes 13926400",
     8'500'002},
    {"Dump", "paged_attention --case Case2 --dump-tensor --enable-l2-swimlane", 0},
};

class FullDisk : public Promise, public testing::WithParamInterface<Filling> {};
INSTANTIATE_TEST_SUITE_P(Fillings, FullDisk, testing::ValuesIn(kFillings),
                         [](const auto& filling) { return filling.param.name; });

TEST_P(FullDisk, ARunThatFillsItIsClosedAndAccountsForEveryNumber) {
  const bool mounted = mount_small("fs", kDiskMib);
  const Finished done =
      run(fmt::format("run {} --output-prefix fs/a{}", GetParam().arguments,
                      mounted ? "" : fmt::format(" --inject capture_limit={}", kDiskMib << 20)));
  EXPECT_EQ(done.exit_code, 5) << done.error;
  EXPECT_NE(done.error.find("fs/a/capture.tide"), std::string::npos) << done.error;
  const auto report = report_of("fs/a");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, RunStatus::kOk);
  EXPECT_EQ(report->exit_code, 5);
  EXPECT_FALSE(has_region(*report));
  EXPECT_TRUE(report->ledger_closes());
  const LaneCounts total = report->total();
  if (GetParam().produced > 0) {
    EXPECT_EQ(total.produced, GetParam().produced);
  }
  EXPECT_EQ(total.dropped, total.dropped_by[static_cast<std::size_t>(DropReason::kFileError)]);
  EXPECT_GT(total.dropped, 0u);
  EXPECT_GT(total.bytes, (kDiskMib << 20) * 7 / 10) << "most of the disk was used";
  const Finished checked = run("check fs/a");
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.error;
}

class FileLimit : public Promise {
 protected:
  // Regions that name a directory of this test.
  std::size_t region_count() const {
    const auto regions = list_regions();
    return static_cast<std::size_t>(std::count_if(
        regions.begin(), regions.end(),
        [&](const StaleRegion& region) { return region.run_directory.starts_with(directory_); }));
  }
};

TEST_F(FileLimit, IsAnErrorCodeAtEverySizeAndNothingIsLeftBelowTheRegion) {
  // The region of this run is between 4 and 8 MiB, its capture 64 MiB.
  std::size_t closed = 0, refused = 0;
  // The shell counts in blocks of 512 bytes.
  for (const std::uint32_t kib : {1, 4, 64, 1024, 4096, 8192, 12000, 20480, 40960, 60000}) {
    SCOPED_TRACE(kib);
    const std::string name = fmt::format("deep/er/a{}", kib);
    const Finished done =
        run("run synthetic_producer --lanes 2 --records 1000000 --output-prefix " + name,
            fmt::format("ulimit -f {};", kib * 2));
    EXPECT_EQ(done.exit_code, 5) << done.out << done.error;
    EXPECT_EQ(region_count(), 0u);
    if (!fs::exists(path(name))) {
      ++refused;
      EXPECT_LE(kib, 4096u) << done.error;
      EXPECT_FALSE(fs::exists(path("deep"))) << "a run that never began leaves nothing behind";
      continue;
    }
    ++closed;
    const auto report = report_of(name);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->status, RunStatus::kOk);
    EXPECT_TRUE(report->ledger_closes());
    EXPECT_EQ(report->total().produced, 2'000'002u);
    EXPECT_GT(report->total().bytes, std::uint64_t{kib} * 1024 * 3 / 4);
    const Finished checked = run("check " + name);
    EXPECT_EQ(checked.exit_code, 0) << checked.out;
    fs::remove_all(path("deep"));
  }
  EXPECT_EQ(refused, 5u);
  EXPECT_EQ(closed, 5u);
}

// A limit that is just enough: the space ahead of the writers is no loss.
TEST_F(FileLimit, ThatIsNotReachedIsNoError) {
  const Finished done = run("run synthetic_producer --lanes 1 --records 200000 --output-prefix a",
                            "ulimit -f 16384;");
  EXPECT_EQ(done.exit_code, 0) << done.error;
  EXPECT_EQ(run("check a").exit_code, 0);
}

TEST_F(FileLimit, KeepLastPagesStayInTheRegionUntilThereIsSpace) {
  const Finished done =
      run("run synthetic_producer --lanes 4 --records 400000 --policy keep-last --keep-pages 32 "
          "--output-prefix a --inject capture_limit=3000000");
  EXPECT_EQ(done.exit_code, 5) << done.out << done.error;
  EXPECT_NE(done.error.find("free "), std::string::npos) << done.error;
  EXPECT_NE(done.error.find("tidemark recover a"), std::string::npos) << done.error;
  auto report = report_of("a");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, RunStatus::kRunning);
  ASSERT_TRUE(has_region(*report));
  const Finished recovered = run("recover a");
  EXPECT_EQ(recovered.exit_code, 0) << recovered.out << recovered.error;
  report = report_of("a");
  ASSERT_TRUE(report);
  EXPECT_FALSE(has_region(*report));
  EXPECT_EQ(report->total().dropped, 0u);
  EXPECT_EQ(report->total().produced, 1'600'002u);
  // 32 pages of 2044 records each, of every lane: the newest ones.
  for (const auto& lane : report->lanes)
    if (lane.stream == "swimlane") {
      EXPECT_GE(lane.counts.delivered + lane.counts.recovered, 31u * 2044);
    }
  const Finished checked = run("check a");
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
}

// Many pages are in the region only when the host is killed: its drainer stands still.
class RecoverOnAFullDisk : public Promise, public testing::WithParamInterface<const char*> {
 protected:
  void kill_with_pages(std::uint64_t seed) {
    const std::uint64_t lanes = 1 + seed % 5;
    const std::uint64_t page_bytes = 65536ull << seed % 3;
    const pid_t pid =
        start(fmt::format("run synthetic_producer -p {} --lanes {} --page-bytes {} --pool-bytes {} "
                          "--record-bytes {} {} --inject drain_stop --seconds 60 --no-sync "
                          "--output-prefix a --force",
                          GetParam(), lanes, page_bytes, 48u << 20, 32u << seed % 3,
                          seed % 2 == 0 ? "--frame-bytes 30000" : ""),
              "log.txt");
    ASSERT_TRUE(wait_until([&] { return all_wait(lanes); })) << read(path("log.txt"));
    ::kill(pid, SIGKILL);
    finish(pid);
  }
  // No producer writes any more: every page is full and waits for the drainer.
  // A producer writes into one of its lanes at a time.
  bool all_wait(std::uint64_t producers) {
    auto live = LiveRun::attach(path("a"));
    const auto view = live ? live->look() : std::nullopt;
    if (!view) return false;
    std::uint64_t waiting = 0;
    for (const LiveStream& stream : view->streams) waiting += stream.waiting;
    return waiting == producers;
  }
};
INSTANTIATE_TEST_SUITE_P(Transports, RecoverOnAFullDisk, testing::Values("sim", "a5sim"));

TEST_P(RecoverOnAFullDisk, KeepsTheRegionAndASecondOneGivesWhatAnUndisturbedOneGives) {
  for (std::uint64_t seed = first_seed() + 1; seed <= first_seed() + rounds(2, 20); ++seed) {
    SCOPED_TRACE(seed);
    kill_with_pages(seed);
    if (HasFatalFailure()) return;
    const auto killed = report_of("a");
    ASSERT_TRUE(killed && has_region(*killed));
    const std::string region = region_path(killed->run_id);
    ASSERT_TRUE(wait_until([&] { return !is_being_written(path("a/capture.tide")); }));
    sleep_us(50'000);
    fs::remove_all(path("b"));
    fs::copy(path("a"), path("b"), fs::copy_options::recursive);
    // The limit counts from the end of what is there; a really full disk where one can be mounted
    // is in FullDisk.
    for (const std::uint64_t limit : {std::uint64_t{1} << 20, std::uint64_t{4} << 20}) {
      const Finished first = run(fmt::format("recover a --inject capture_limit={}", limit));
      ASSERT_EQ(first.exit_code, 5) << first.out << first.error;
      EXPECT_NE(first.error.find("free "), std::string::npos) << first.error;
      EXPECT_EQ(first.out, "");
      ASSERT_TRUE(fs::exists(region)) << "the evidence is gone";
      ASSERT_EQ(report_of("a")->status, RunStatus::kRunning);
    }
    fs::copy_file(region, path("kept.region"), fs::copy_options::overwrite_existing);
    const Finished second = run("recover a");
    ASSERT_EQ(second.exit_code, 0) << second.out << second.error;
    EXPECT_FALSE(fs::exists(region));
    const auto report = report_of("a");
    ASSERT_TRUE(report);
    EXPECT_EQ(report->status, RunStatus::kRecovered);
    expect_nothing_dropped(*report);
    EXPECT_TRUE(report->ledger_closes());
    EXPECT_EQ(run("check a").exit_code, 0);
    // The same run again, undisturbed.
    fs::copy_file(path("kept.region"), region);
    fs::permissions(region, fs::perms::owner_read | fs::perms::owner_write);
    const Finished undisturbed = run("recover b");
    ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.out << undisturbed.error;
    EXPECT_EQ(report_of("b")->total().produced, report->total().produced);
    EXPECT_EQ(report_of("b")->total().recovered, report->total().recovered);
    const Pages pages = pages_of("a");
    EXPECT_GT(pages.size(), 20u);
    EXPECT_TRUE(pages == pages_of("b")) << "not equal record by record";
    fs::remove_all(path("a"));
  }
}

// The same with a disk that really is full, and the exact space that is asked for.
TEST_F(Promise, ARecoveryOnAFullFileSystemIsDoneOnceTheSpaceItAskedForIsFree) {
  if (!mount_small("fs", 10))
    GTEST_SKIP() << "no right to mount; RecoverOnAFullDisk covers it with a limit";
  const pid_t pid = start(
      "run synthetic_producer --lanes 2 --pool-bytes 50331648 --inject drain_stop --seconds 60 "
      "--output-prefix fs/a",
      "log.txt");
  ASSERT_TRUE(wait_until([&] {
    auto live = LiveRun::attach(path("fs/a"));
    const auto view = live ? live->look() : std::nullopt;
    return view && std::any_of(view->streams.begin(), view->streams.end(),
                               [](const auto& stream) { return stream.waiting == 2; });
  }));
  ::kill(pid, SIGKILL);
  finish(pid);
  const Finished first = run("recover fs/a");
  ASSERT_EQ(first.exit_code, 5) << first.out << first.error;
  const auto at = first.error.find("free ");
  ASSERT_NE(at, std::string::npos) << first.error;
  const double mib = std::stod(first.error.substr(at + 5));
  EXPECT_GT(mib, 4);
  const std::string bigger = fmt::format("mount -o remount,size={}k '{}'",
                                         static_cast<std::uint64_t>((10 + mib) * 1024), path("fs"));
  ASSERT_EQ(std::system(bigger.c_str()), 0);
  const Finished second = run("recover fs/a");
  EXPECT_EQ(second.exit_code, 0) << second.out << second.error;
  expect_nothing_dropped(*report_of("fs/a"));
  EXPECT_EQ(run("check fs/a").exit_code, 0);
}

TEST_F(Promise, ForceRemovesTheOldRunOnlyWhenTheNewOneHasStarted) {
  ASSERT_EQ(run("run synthetic_producer --records 5000 --output-prefix a").exit_code, 0);
  const std::string before = read(path("a/run.json"));
  const auto pages = pages_of("a");
  // Neither a region nor a capture can be made.
  for (const char* limit : {"ulimit -f 64;", "ulimit -f 1;"}) {
    const Finished refused =
        run("run synthetic_producer --records 100 --output-prefix a --force", limit);
    EXPECT_EQ(refused.exit_code, 5) << refused.error;
    EXPECT_EQ(read(path("a/run.json")), before);
    EXPECT_TRUE(pages_of("a") == pages);
    EXPECT_EQ(run("check a").exit_code, 0);
  }
  const Finished no_capture = run(
      "run synthetic_producer --records 100 --output-prefix a --force --inject capture_limit=1");
  EXPECT_EQ(no_capture.exit_code, 5) << no_capture.error;
  EXPECT_EQ(read(path("a/run.json")), before);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(path("a"))) {
    ++files;
    EXPECT_TRUE(entry.path().filename() == "run.json" || entry.path().filename() == kCaptureFile)
        << entry.path();
  }
  EXPECT_EQ(files, 2u);
  ASSERT_EQ(run("run synthetic_producer --records 50 --output-prefix a --force").exit_code, 0);
  EXPECT_NE(read(path("a/run.json")), before);
  EXPECT_EQ(run("check a").exit_code, 0);
}

}  // namespace
}  // namespace tidemark
