// SPDX-License-Identifier: Apache-2.0
// run.json, looked at before every call that replaces it, and with every call refused: readers find
// the old one or the new one, whole.
#include <cerrno>

#include "tests/storage/run_files.h"
#include "tests/storage/storage_steps.h"

namespace tidemark::storage {
namespace {

class SteppedReport : public ::testing::Test {
 protected:
  SteppedReport() {
    old_.run_id = new_.run_id = 77;
    old_.workload = "old";
    new_.workload = "new";
    new_.status = RunStatus::kOk;
    for (std::uint32_t lane = 0; lane < 40; ++lane)
      new_.lanes.push_back({.lane = lane,
                            .stream = "swimlane",
                            .producer = "worker",
                            .state = "closed",
                            .policy = "wait",
                            .counts = {.produced = lane}});
  }
  std::string found() const {
    const auto report = read_run_report(directory_.path());
    if (!report) return "none";
    return report->lanes.size() == (report->workload == "new" ? 40u : 0u) ? report->workload
                                                                          : "torn";
  }
  Expected<void> replace() {
    auto file = ReportFile::reserve(directory_.path(), 77, 40);
    if (!file) return tl::unexpected(file.error());
    return file->replace(new_, true);
  }
  Expected<void> put_first() {
    auto file = ReportFile::reserve(directory_.path(), 77, 0);
    if (!file) return tl::unexpected(file.error());
    return file->put_first(old_);
  }
  bool has_parts() const {
    for (const auto& entry : fs::directory_iterator(directory_.path()))
      if (entry.path().string().ends_with(".part")) return true;
    return false;
  }

  samples::TemporaryDirectory directory_{"/dev/shm"};
  RunReport old_, new_;
};

TEST_F(SteppedReport, IsTheOldOneOrTheNewOneAtEveryMoment) {
  std::vector<std::string> seen;
  {
    const Watched watched({directory_.path()}, [&](const Step&) {
      seen.push_back(found());
      return Answer{};
    });
    ASSERT_TRUE(put_first().has_value());
    ASSERT_TRUE(replace().has_value());
  }
  seen.push_back(found());
  // Each comes once, in this order, and none is torn.
  ASSERT_EQ(seen.front(), "none");
  ASSERT_EQ(seen.back(), "new");
  const auto first_old = std::find(seen.begin(), seen.end(), "old");
  const auto first_new = std::find(seen.begin(), seen.end(), "new");
  ASSERT_LT(first_old, first_new);
  EXPECT_TRUE(std::all_of(seen.begin(), first_old, [](auto& text) { return text == "none"; }));
  EXPECT_TRUE(std::all_of(first_old, first_new, [](auto& text) { return text == "old"; }));
  EXPECT_TRUE(std::all_of(first_new, seen.end(), [](auto& text) { return text == "new"; }));
  EXPECT_GE(seen.size(), 10u);
  EXPECT_FALSE(has_parts());
}

// The part of a first report is still there, as a second name of run.json.
TEST_F(SteppedReport, AKillBeforeTheEndOfTheFirstPartLeavesTheOldOne) {
  ASSERT_TRUE(put_first().has_value());
  fs::create_hard_link(directory_.file("run.json"),
                       directory_.file(fmt::format("run.json.{}.part", run_id_text(77))));
  std::vector<std::string> seen;
  {
    const Watched watched({directory_.path()}, [&](const Step&) {
      seen.push_back(found());
      return Answer{};
    });
    ASSERT_TRUE(replace().has_value());
  }
  EXPECT_GE(seen.size(), 5u);
  for (const std::string& text : seen) EXPECT_TRUE(text == "old" || text == "new") << text;
  EXPECT_EQ(seen.front(), "old");
  EXPECT_EQ(found(), "new");
  EXPECT_FALSE(has_parts());
}

TEST_F(SteppedReport, ARefusedCallLeavesTheOldOne) {
  ASSERT_TRUE(put_first().has_value());
  std::vector<Step> calls;
  {
    const Watched watched({directory_.path()}, [&](const Step& step) {
      calls.push_back(step);
      return Answer{};
    });
    ASSERT_TRUE(replace().has_value());
  }
  ASSERT_GE(calls.size(), 5u);
  std::uint64_t refused = 0;
  for (const Step& at : calls)
    for (const int error : {EINTR, EIO, ENOSPC, 0}) {
      if (error == 0 && at.call != Call::kWrite) continue;
      if (error == EINTR && at.call == Call::kRename) continue;  // it never is
      SCOPED_TRACE(
          fmt::format("{} at step {}, a {} of {}", error, at.number, to_text(at.call), at.path));
      fs::remove(directory_.file("run.json"));
      ASSERT_TRUE(put_first().has_value());
      bool replaced = false;
      {
        const Watched watched({directory_.path()}, [&](const Step& step) {
          if (step.number != at.number) return Answer{};
          return error == 0 ? Answer{.at_most = 1} : Answer{.error = error};
        });
        replaced = replace().has_value();
      }
      refused += !replaced;
      EXPECT_TRUE(replaced || (error != EINTR && error != 0));
      // A report that is in place may be said not to be synced; one that is not never is "done".
      const std::string now = found();
      EXPECT_TRUE(now == "new" || (!replaced && now == "old")) << now;
      EXPECT_FALSE(has_parts());
    }
  EXPECT_GE(refused, 5u);
}

}  // namespace
}  // namespace tidemark::storage
