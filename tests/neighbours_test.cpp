// SPDX-License-Identifier: Apache-2.0
// Other processes around a run: runs that start together, recoveries and looks from other
// containers and hosts, two recoveries at once, a program that forks while it records.
#include <sys/wait.h>

#include "tests/promise_fixture.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/session/live_view.h"
#include "tidemark/session/recording.h"

namespace tidemark {
namespace {

class Neighbours : public Promise {
 protected:
  static constexpr const char* kNamespace = "unshare -p -f -m --mount-proc sh -c ";
  static constexpr const char* kOwnShm = "mount -t tmpfs none /dev/shm && ";

  // Until the file `go` is there: what is started one after the other begins together.
  static constexpr const char* kTogether = "while [ ! -e go ]; do sleep 0.001; done;";

  static bool may_unshare() {
    return std::system("unshare -p -f -m --mount-proc true >/dev/null 2>&1") == 0;
  }
  // In another pid namespace; with a /dev/shm of its own if asked.
  Finished run_elsewhere(const std::string& arguments, bool own_shm) {
    const std::string command =
        fmt::format("cd '{}'; {} \"{} '{}' {}\" >other.txt 2>other_error.txt", directory_,
                    kNamespace, own_shm ? kOwnShm : "", TIDEMARK_EXECUTABLE, arguments);
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            read(path("other.txt")), read(path("other_error.txt"))};
  }
  // A page was taken: the capture has its description and more.
  bool drains(const std::string& name) const {
    auto live = LiveRun::attach(path(name));
    const auto view = live ? live->look() : std::nullopt;
    return view && view->drained_pages > 0;
  }
  // Replaces a text in a run.json.
  void edit_report(const std::string& name, const std::string& key, const std::string& value) {
    std::string text = read(path(name + "/run.json"));
    const auto at = text.find("\"" + key + "\": ");
    ASSERT_NE(at, std::string::npos) << text;
    const auto from = at + key.size() + 4;
    text.replace(from, text.find_first_of(",\n", from) - from, value);
    std::ofstream(path(name + "/run.json")) << text;
  }
};

TEST_F(Neighbours, RunsThatStartTogetherWithDefaultNamesNeverMeet) {
  constexpr int kAtOnce = 8;
  std::uint32_t runs = 0;
  for (std::uint32_t round = 0; round < rounds(3, 50); ++round) {
    std::vector<pid_t> started;
    for (int i = 0; i < kAtOnce; ++i)
      started.push_back(start("run synthetic_producer --lanes 1 --records 2000 --no-sync",
                              fmt::format("log{}.txt", i), kTogether));
    std::ofstream(path("go")) << "now";
    for (int i = 0; i < kAtOnce; ++i)
      EXPECT_EQ(finish(started[static_cast<std::size_t>(i)]), 0)
          << read(path(fmt::format("log{}.txt", i)));
    std::set<std::uint64_t> ids;
    for (const auto& entry : fs::directory_iterator(path("outputs"))) {
      const std::string name = "outputs/" + entry.path().filename().string();
      const auto report = report_of(name);
      ASSERT_TRUE(report) << name;
      EXPECT_TRUE(ids.insert(report->run_id).second);
      EXPECT_EQ(report->total().delivered, 2002u);
      EXPECT_EQ(run("check " + name).exit_code, 0);
      ++runs;
    }
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(kAtOnce));
    fs::remove_all(path("outputs"));
    fs::remove(path("go"));
  }
  EXPECT_EQ(runs, rounds(3, 50) * kAtOnce);
}

TEST_F(Neighbours, OfTwoRunsThatStartInOneDirectoryOneWinsAndTheOtherNamesIt) {
  for (std::uint32_t round = 0; round < rounds(15, 200); ++round) {
    SCOPED_TRACE(round);
    const bool force = round % 5 == 4;  // both, over an old run
    if (force) {
      ASSERT_EQ(run("run synthetic_producer --records 10 --output-prefix a").exit_code, 0);
    }
    std::vector<pid_t> started;
    for (int i = 0; i < 2; ++i)
      started.push_back(
          start(fmt::format("run synthetic_producer --lanes 1 --records 40000 --rate 100000 "
                            "--no-sync --output-prefix a {}",
                            force ? "--force" : ""),
                fmt::format("log{}.txt", i), kTogether));
    std::ofstream(path("go")) << "now";
    int codes[2] = {finish(started[0]), finish(started[1])};
    const int winner = codes[0] == 0 ? 0 : 1;
    EXPECT_EQ(codes[winner], 0);
    EXPECT_EQ(codes[1 - winner], 2);
    const std::string said = read(path(fmt::format("log{}.txt", 1 - winner)));
    const auto report = report_of("a");
    ASSERT_TRUE(report);
    EXPECT_NE(said.find(fmt::format("host process {}", started[static_cast<std::size_t>(winner)])),
              std::string::npos)
        << said;
    EXPECT_EQ(report->total().delivered, 40'002u);
    fs::remove(path("go"));
    EXPECT_EQ(run("check a").exit_code, 0);
    for (int i = 0; i < 2; ++i) fs::remove(path(fmt::format("log{}.txt", i)));
    fs::remove_all(path("a"));
  }
}

TEST_F(Neighbours, ALiveRunIsSafeFromOtherContainers) {
  if (!may_unshare() || !mount_own_shm()) GTEST_SKIP() << "no right to make a pid namespace";
  for (std::uint32_t round = 0; round < rounds(2, 20); ++round) {
    SCOPED_TRACE(round);
    const pid_t pid = start(
        "run synthetic_producer --lanes 2 --rate 200000 --seconds 2 --no-sync "
        "--output-prefix a",
        "log.txt");
    ASSERT_TRUE(wait_until([&] { return drains("a"); }));
    const std::string owner = fmt::format("host process {}", pid);
    std::uint32_t refused = 0, looked = 0, checked = 0;
    for (bool own_shm = false; !wait_for(pid, 0); own_shm = !own_shm) {
      const Finished recover = run_elsewhere("recover a", own_shm);
      if (recover.exit_code == 0) break;  // the run has just ended
      EXPECT_EQ(recover.exit_code, 2) << recover.out << recover.error;
      EXPECT_NE(recover.error.find(owner), std::string::npos) << recover.error;
      ++refused;
      const Finished clean = run_elsewhere("recover --clean --yes", own_shm);
      EXPECT_EQ(clean.out.find("removed"), std::string::npos) << clean.out;
      const Finished top = run_elsewhere("top a --once", own_shm);
      const Finished check = run_elsewhere("check a", own_shm);
      if (wait_for(pid, 0)) break;
      EXPECT_EQ(top.exit_code, own_shm ? 2 : 0) << top.out << top.error;
      ++looked;
      EXPECT_EQ(check.exit_code, 0) << check.out << check.error;
      EXPECT_EQ(check.out.find("problem"), std::string::npos) << check.out;
      checked += check.out.find("still running") != std::string::npos ? 1 : 0;
    }
    EXPECT_GT(refused, 0u);
    EXPECT_GT(looked + checked, 0u);
    const auto report = report_of("a");
    ASSERT_TRUE(report);
    EXPECT_EQ(report->status, RunStatus::kOk) << read(path("log.txt"));
    EXPECT_EQ(report->exit_code, 0);
    EXPECT_EQ(run("check a").exit_code, 0);
    fs::remove_all(path("a"));
  }
}

// The same without any right: run.json says what another host, boot or container would find.
TEST_F(Neighbours, ALiveRunIsSafeWhateverItsReportSays) {
  const pid_t pid = start(
      "run synthetic_producer --rate 100000 --seconds 60 --no-sync --output-prefix a", "log.txt");
  ASSERT_TRUE(wait_until([&] { return drains("a"); }));
  const std::string first = read(path("a/run.json"));
  const Finished plain = run("recover a");
  EXPECT_EQ(plain.exit_code, 2) << plain.out << plain.error;
  EXPECT_NE(plain.error.find("the run is still going on"), std::string::npos) << plain.error;
  EXPECT_NE(plain.error.find(std::to_string(pid)), std::string::npos) << plain.error;
  const std::pair<const char*, const char*> edits[] = {
      {"boot_id", "\"another-boot\""}, {"pid_namespace", "17"}, {"host_id", "\"another host\""}};
  for (const auto& [key, value] : edits) {
    edit_report("a", key, value);
    for (const char* flag : {"", " --host-is-gone"}) {
      const Finished recover = run(std::string("recover a") + flag);
      EXPECT_EQ(recover.exit_code, 2) << key << recover.out << recover.error;
    }
    std::ofstream(path("a/run.json")) << first;
  }
  ::kill(pid, SIGTERM);
  EXPECT_EQ(finish(pid), 143) << read(path("log.txt"));
  EXPECT_EQ(run("check a").exit_code, 0);
}

class DeadRun : public Neighbours {
 protected:
  void kill_a_run() {
    const pid_t pid = start(
        "run synthetic_producer --rate 100000 --seconds 60 --no-sync --output-prefix a", "log.txt");
    ASSERT_TRUE(wait_until([&] { return drains("a"); }));
    ::kill(pid, SIGKILL);
    finish(pid);
  }
};

TEST_F(DeadRun, OfAnotherHostIsRecoveredOnlyByWhoKnowsThatItIsGone) {
  kill_a_run();
  if (HasFatalFailure()) return;
  const std::string region = region_path(report_of("a")->run_id);
  edit_report("a", "boot_id", "\"another-boot\"");
  edit_report("a", "host_name", "\"elsewhere\"");
  const Finished refused = run("recover a");
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.error;
  EXPECT_NE(refused.error.find("elsewhere"), std::string::npos) << refused.error;
  EXPECT_NE(refused.error.find("--host-is-gone"), std::string::npos) << refused.error;
  EXPECT_EQ(report_of("a")->status, RunStatus::kRunning);
  const Finished knows = run("recover a --host-is-gone");
  EXPECT_EQ(knows.exit_code, 4) << "what was in its region is unknown";
  EXPECT_EQ(report_of("a")->status, RunStatus::kRecovered);
  fs::remove(region);
}

TEST_F(DeadRun, AfterARebootOfTheSameHostIsRecoveredWithUnknownLoss) {
  kill_a_run();
  if (HasFatalFailure()) return;
  const std::string region = region_path(report_of("a")->run_id);
  edit_report("a", "boot_id", "\"another-boot\"");
  const Finished done = run("recover a");
  EXPECT_EQ(done.exit_code, 4) << done.out << done.error;
  EXPECT_FALSE(report_of("a")->loss_known);
  EXPECT_TRUE(fs::exists(region)) << "not of that boot";
  fs::remove(region);
}

TEST_F(DeadRun, OfAnotherContainerIsRecoveredWhereItsRegionIs) {
  if (!may_unshare()) GTEST_SKIP() << "no right to make a pid namespace";
  kill_a_run();
  if (HasFatalFailure()) return;
  sleep_us(500'000);  // its device process leaves by itself
  const Finished hidden = run_elsewhere("recover a", true);
  EXPECT_EQ(hidden.exit_code, 2) << hidden.out << hidden.error;
  EXPECT_EQ(report_of("a")->status, RunStatus::kRunning);
  const Finished seen = run_elsewhere("recover a", false);
  EXPECT_EQ(seen.exit_code, 0) << seen.out << seen.error;
  EXPECT_TRUE(report_of("a")->loss_known);
  EXPECT_EQ(run("check a").exit_code, 0);
}

TEST_F(DeadRun, RecoveredByManyAtOnceIsRecoveredOnce) {
  for (std::uint32_t round = 0; round < rounds(2, 30); ++round) {
    SCOPED_TRACE(round);
    kill_a_run();
    if (HasFatalFailure()) return;
    std::vector<pid_t> started;
    for (int i = 0; i < 4; ++i) started.push_back(start("recover a", fmt::format("r{}.txt", i)));
    std::uint32_t complete = 0;
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(finish(started[static_cast<std::size_t>(i)]), 0)
          << read(path(fmt::format("r{}.txt", i)));
      complete +=
          read(path(fmt::format("r{}.txt", i))).find("is complete") != std::string::npos ? 1 : 0;
      fs::remove(path(fmt::format("r{}.txt", i)));
    }
    EXPECT_EQ(complete, 3u);
    EXPECT_TRUE(report_of("a")->loss_known);
    EXPECT_EQ(run("check a").exit_code, 0);
    fs::remove_all(path("a"));
  }
}

TEST_F(Neighbours, AChildOfAForkTakesNothingFromTheRecordingOfItsParent) {
  auto recording = Recording::start({.output_dir = path("a"), .sync = false}).value();
  auto lane = recording->open_lane<TaskSpan>("worker").value();
  for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_TRUE(lane.write({.task_id = i}));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool refused = !recording->finish();
    recording.reset();
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_TRUE(lane.write({.task_id = i}));
  lane.close();
  const auto report = recording->finish();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->total().delivered, 10'000u);
  EXPECT_EQ(run("check a").exit_code, 0);
}

TEST_F(Neighbours, AChildOfAForkDoesNotHoldTheLocksOfItsParent) {
  auto recording = Recording::start({.output_dir = path("a"), .sync = false}).value();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(ends[1]);  // says that it runs: on a busy machine it may begin much later
    ::pause();
    ::_exit(0);
  }
  ::close(ends[1]);
  char none = 0;
  EXPECT_EQ(::read(ends[0], &none, 1), 0);
  ::close(ends[0]);
  EXPECT_TRUE(is_being_written(path("a/capture.tide")));
  EXPECT_TRUE(recording->finish());
  recording.reset();
  EXPECT_FALSE(is_being_written(path("a/capture.tide"))) << "the child holds it";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace tidemark
