// SPDX-License-Identifier: Apache-2.0
// `tidemark serve` beside a run that is going on: what is recorded appears, the run does not feel
// it, and its end is seen.
#include <thread>

#include "tests/serve_fixture.h"
#include "tidemark/run/run_report.h"

namespace tidemark {
namespace {

class ServeLive : public ServeFixture {
 protected:
  // Until the run has a capture that can be looked at.
  void start_run(const std::string& arguments) {
    fs::create_directories(path("tmp"));
    run_ = start("run " + arguments + " --output-prefix r", "run.log");
    const std::uint64_t end_us = now_us() + kPatienceMs * 1000ull;
    while (!fs::exists(path("r/capture.tide")) && now_us() < end_us) sleep_us(1'000);
    ASSERT_TRUE(fs::exists(path("r/capture.tide"))) << read(path("run.log"));
  }
  void TearDown() override {
    // Asked to end, it takes its region with it.
    if (run_ > 0) ::kill(run_, SIGTERM), (void)wait_for(run_, kPatienceMs);
    ServeFixture::TearDown();
  }
  int end_of_run() {
    const auto end = wait_for(run_, kPatienceMs);
    EXPECT_TRUE(end) << "the run does not end";
    if (!end) return -1;
    run_ = 0;
    return end->exit_code;
  }

  static std::uint64_t spans_in(const rapidjson::Document& index) {
    std::uint64_t spans = 0;
    if (!index.HasMember("tracks")) return 0;
    for (const auto& track : index["tracks"].GetArray())
      if (track["kind"].GetString() == std::string("lane")) spans += track["count"].GetUint64();
    return spans;
  }

  pid_t run_ = 0;
};

// What one page sees of it, from the first look to the end of the run.
struct Watched {
  std::vector<std::uint64_t> generations, spans;
  std::uint64_t tiles_that_do_not_fit = 0;
  bool ended = false;
};

TEST_F(ServeLive, TwoClientsSeeARunGrowAndEndAndItLosesNothing) {
  start_run("synthetic_producer --lanes 2 --rate 100000 --seconds 4");
  serve("r");
  const std::string prefix = run_prefix();
  const auto watch = [&](Watched& seen) {
    const std::uint64_t end_us = now_us() + kPatienceMs * 1000ull;
    while (!seen.ended && now_us() < end_us) {
      const std::string text = samples::body_of(ask(prefix + "index.json"));
      rapidjson::Document index;
      index.Parse(text.c_str(), text.size());
      if (index.HasParseError() || !index.IsObject()) break;
      const std::uint64_t generation = index["generation"].GetUint64();
      if (generation > 0 && (seen.generations.empty() || seen.generations.back() != generation)) {
        seen.generations.push_back(generation);
        seen.spans.push_back(spans_in(index));
        // Everything that this index names is there as long as it is the newest.
        for (const auto& track : index["tracks"].GetArray()) {
          const int got = samples::status_of(ask(fmt::format(
              "{}{}dir/{}", prefix, index["blobs"].GetString(), track["id"].GetUint())));
          seen.tiles_that_do_not_fit += got != 200 && got != 410;
        }
      }
      seen.ended = generation > 0 && !index["live"].GetBool() && is_complete(index);
      sleep_us(50'000);
    }
  };
  Watched seen[2];
  {
    std::jthread other([&] { watch(seen[1]); });
    watch(seen[0]);
  }
  EXPECT_EQ(end_of_run(), 0) << read(path("run.log"));
  const auto report = read_run_report(path("r"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->total().dropped + report->total().overwritten, 0u);
  std::uint64_t spans = 0;
  for (const auto& lane : report->lanes)
    if (lane.stream == "swimlane") spans += lane.counts.delivered;
  for (const Watched& one : seen) {
    EXPECT_TRUE(one.ended);
    EXPECT_EQ(one.tiles_that_do_not_fit, 0u);
    EXPECT_GE(one.generations.size(), 3u) << "it does not grow";
    EXPECT_TRUE(std::is_sorted(one.generations.begin(), one.generations.end()));
    EXPECT_TRUE(std::is_sorted(one.spans.begin(), one.spans.end()));
    ASSERT_FALSE(one.spans.empty());
    EXPECT_LT(one.spans.front(), one.spans.back());
    EXPECT_EQ(one.spans.back(), spans) << "its end is missing";
  }
  run_ok("check r");
}

TEST_F(ServeLive, AHangIsSeenWhenItHappens) {
  start_run("hang_kernel --enable-l2-swimlane --scheduler-timeout-ms 1500");
  serve("r");
  const std::string prefix = run_prefix();
  const auto before = index_when(prefix, [](const auto& index) {
    return index.HasMember("tracks") && index["live"].GetBool();
  });
  EXPECT_EQ(before["run"]["status"].GetString(), std::string("running"));
  EXPECT_EQ(end_of_run(), 3);
  const auto after = index_when(
      prefix, [](const auto& index) { return is_complete(index) && !index["live"].GetBool(); });
  EXPECT_EQ(after["run"]["status"].GetString(), std::string("hang"));
  EXPECT_GT(after["generation"].GetUint64(), before["generation"].GetUint64());
}

TEST_F(ServeLive, ARunWhoseHostIsKilledIsNoLongerLiveAndRecoveredLater) {
  start_run("synthetic_producer --lanes 2 --rate 100000 --seconds 60");
  serve("r");
  const std::string prefix = run_prefix();
  index_when(prefix, [](const auto& index) { return spans_in(index) > 1000; });
  ::kill(run_, SIGKILL);
  ASSERT_TRUE(wait_for(run_, kPatienceMs));
  run_ = 0;
  const auto before = everything_in("r");
  const auto killed =
      index_when(prefix, [](const auto& index) { return !index["live"].GetBool(); });
  body(prefix + "doc/overview");
  EXPECT_EQ(everything_in("r"), before) << "who looks does not recover";
  EXPECT_EQ(killed["run"]["status"].GetString(), std::string("running")) << "nobody finished it";
  run_ok("recover r");
  const auto recovered = index_when(prefix, [](const auto& index) {
    return index["run"]["status"].GetString() == std::string("recovered");
  });
  EXPECT_GE(spans_in(recovered), spans_in(killed));
}

TEST_F(ServeLive, AnOldGenerationIsGoneAndSaysSo) {
  start_run("synthetic_producer --lanes 1 --rate 50000 --seconds 60");
  serve("r");
  const std::string prefix = run_prefix();
  const auto first = index_when(prefix, is_complete);
  const std::string name = fmt::format("{}{}dir/{}", prefix, first["blobs"].GetString(),
                                       first["tracks"][0]["id"].GetUint());
  EXPECT_EQ(samples::status_of(ask(name)), 200);
  index_when(prefix, [&](const auto& index) {
    return index["generation"].GetUint64() >= first["generation"].GetUint64() + 2;
  });
  EXPECT_EQ(samples::status_of(ask(name)), 410);
}

}  // namespace
}  // namespace tidemark
