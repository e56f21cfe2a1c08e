// SPDX-License-Identifier: Apache-2.0
// A recovery, killed before every store and every system call it makes, and with every call
// refused, interrupted or cut short. Whatever it left, the next recovery gives what an undisturbed
// one gives; as long as run.json does not say so, the region stays.
#include <cerrno>
#include <cstdlib>
#include <map>

#include "tests/storage/run_files.h"
#include "tests/storage/storage_steps.h"
#include "tidemark/session/recover.h"

namespace tidemark::storage {
namespace {

class SteppedRecovery : public ::testing::TestWithParam<const char*> {
 protected:
  // A run whose host was killed with pages in the capture, in the region, and records in open ones.
  void SetUp() override {
    const std::string first = directory_.file("first");
    const ProgramEnd end =
        run_program(words(fmt::format("{} run synthetic_producer --platform {} --lanes 2 "
                                      "--seconds 20 --pool-bytes 12288 --record-bytes 32 "
                                      "--frame-bytes 300 --page-bytes 1024 "
                                      "--inject kill@drain:3 --output-prefix {}",
                                      TIDEMARK_EXECUTABLE, GetParam(), first)),
                    directory_.file("log"), 60'000);
    ASSERT_EQ(end.signal, SIGKILL) << "exit code " << end.exit_code;
    const auto report = read_run_report(first);
    ASSERT_TRUE(report.has_value());
    // The first recovery waits for the device; after it everything is still.
    region_ = region_path(report->run_id);
    wait_until_still(first);
    left_ = read_run_files(first, region_, true);
    ASSERT_TRUE(left_.has_region);
    put_run_files(left_, run_, left_.region_bytes);
    ASSERT_TRUE(recover_run(run_, kOptions).has_value());
    whole_ = read_content(run_);
    ASSERT_EQ(whole_.status, "recovered");
    ASSERT_EQ(whole_.exit_code, 0);
    ASSERT_GE(whole_.pages.size(), 6u);
    ASSERT_GE(whole_.records, 80u);
  }
  void TearDown() override { fs::remove(region_); }

  // The device of a killed host writes on until it sees that; its supervisor ends it.
  void wait_until_still(const std::string& directory) {
    RunFiles before = read_run_files(directory, region_, true);
    for (int same = 0; same < 10;) {
      sleep_us(20'000);
      RunFiles now = read_run_files(directory, region_, true);
      same = now == before ? same + 1 : 0;
      before = std::move(now);
    }
  }

  void expect_recovered() {
    const auto recovered = recover_run(run_, kOptions);
    ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
    ASSERT_EQ(recovered->exit_code, 0) << recovered->file_error;
    ASSERT_FALSE(fs::exists(region_)) << "the region is left";
    ASSERT_EQ(read_content(run_), whole_);
    for (const auto& entry : fs::directory_iterator(run_))
      ASSERT_FALSE(entry.path().string().ends_with(".part")) << entry.path();
  }

  static const RecoverOptions kOptions;
  samples::TemporaryDirectory directory_{"/dev/shm"};
  const std::string run_ = directory_.file("run");
  std::string region_;
  RunFiles left_;
  RunContent whole_;
};
const RecoverOptions SteppedRecovery::kOptions = {};

INSTANTIATE_TEST_SUITE_P(Transports, SteppedRecovery, ::testing::Values("sim", "a5sim"),
                         [](const auto& platform) { return std::string(platform.param); });

TEST_P(SteppedRecovery, AKillBeforeAnyStoreOrCallLosesNothing) {
  put_run_files(left_, run_, left_.region_bytes);
  std::vector<std::pair<Step, RunFiles>> moments;
  std::map<Call, std::uint64_t> counts;
  {
    const Watched watched({run_, region_}, [&](const Step& step) {
      ++counts[step.call];
      RunFiles now = read_run_files(run_, region_, false);
      if (moments.empty() || !(moments.back().second == now))
        moments.emplace_back(step, std::move(now));
      return Answer{};
    });
    ASSERT_TRUE(recover_run(run_, kOptions).has_value());
  }
  std::uint64_t steps = 0;
  for (const auto& [call, count] : counts) steps += count;
  moments.emplace_back(Step{}, read_run_files(run_, region_, false));
  for (const auto& [step, files] : moments) {
    SCOPED_TRACE(fmt::format("before step {}, a {} of {} at {}", step.number, to_text(step.call),
                             step.path, step.offset));
    put_run_files(files, run_, left_.region_bytes);
    const auto report = read_run_report(run_);
    ASSERT_TRUE(report.has_value()) << "run.json is gone or torn";
    ASSERT_TRUE(files.has_region || report->status == RunStatus::kRecovered)
        << "the region is gone, and run.json does not have its records";
    expect_recovered();
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(counts[Call::kStore], 100u);
  EXPECT_GE(counts[Call::kSync], 2u);
  EXPECT_EQ(counts[Call::kRename], 1u);
  EXPECT_GE(counts[Call::kUnlink], 1u);
  std::printf("recovery: %zu states before %llu stores and calls\n", moments.size(),
              static_cast<unsigned long long>(steps));
}

bool can_happen(const Step& step, const Trouble& trouble) {
  const bool moves = step.call == Call::kWrite || step.call == Call::kRead;
  if (trouble.answer.error == 0) return moves;
  if (step.call == Call::kRead) return trouble.answer.error != ENOSPC;
  const bool of_names = step.call == Call::kRename || step.call == Call::kUnlink ||
                        step.call == Call::kLink || step.call == Call::kMakeDirectory;
  return !of_names || trouble.answer.error != EINTR;
}

TEST_P(SteppedRecovery, ARefusedCallRemovesNothing) {
  std::vector<Step> calls;
  put_run_files(left_, run_, left_.region_bytes);
  {
    const Watched watched({run_, region_}, [&](const Step& step) {
      if (step.call != Call::kStore) calls.push_back(step);
      return Answer{};
    });
    ASSERT_TRUE(recover_run(run_, kOptions).has_value());
  }
  // Reads are many and alike: all of them in a campaign; in the test run the first ones of each
  // file, which say what it is, and every eleventh.
  const std::uint64_t reads_apart = std::getenv("TIDEMARK_CAMPAIGN") != nullptr ? 1 : 11;
  std::uint64_t cases = 0, kept = 0;
  std::map<std::string, std::uint64_t> reads;
  for (const Step& at : calls) {
    if (at.call == Call::kRead) {
      const std::uint64_t number = reads[at.path]++;
      if (number >= 24 && number % reads_apart != 0) continue;
    }
    for (const Trouble& trouble : kTroubles) {
      if (!can_happen(at, trouble)) continue;
      SCOPED_TRACE(fmt::format("{} at step {}, a {} of {}", trouble.name, at.number,
                               to_text(at.call), at.path));
      put_run_files(left_, run_, left_.region_bytes);
      bool hit = false;
      Expected<RecoverResult> result = failure(ErrorKind::kUsage, "not run");
      {
        const Watched watched({run_, region_}, [&](const Step& step) {
          const bool now = step.number == at.number && step.call == at.call;
          hit |= now;
          return now ? trouble.answer : Answer{};
        });
        result = recover_run(run_, kOptions);
      }
      ASSERT_TRUE(hit);
      ++cases;
      const bool complete = result.has_value() && !result->incomplete;
      ASSERT_TRUE(complete || trouble.refuses)
          << (result ? result->file_error : result.error().message);
      ASSERT_TRUE(complete || fs::exists(region_)) << "the region is gone";
      const auto report = read_run_report(run_);
      ASSERT_TRUE(report.has_value()) << "run.json is gone or torn";
      // A report that is in place and could not be synced leaves the region, too.
      const bool unsynced = at.call == Call::kSync && at.path == run_;
      ASSERT_EQ(report->status, complete || unsynced ? RunStatus::kRecovered : RunStatus::kRunning);
      if (!complete) ++kept;
      if (result.has_value() && result->incomplete) {
        ASSERT_EQ(result->exit_code, 5);
        ASSERT_FALSE(result->file_error.empty());
      }
      expect_recovered();
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(kept, 10u);
  std::printf("recovery: %llu answers at %zu calls, %llu kept the region\n",
              static_cast<unsigned long long>(cases), calls.size(),
              static_cast<unsigned long long>(kept));
}

}  // namespace
}  // namespace tidemark::storage
