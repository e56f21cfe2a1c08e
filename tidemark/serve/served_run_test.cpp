// SPDX-License-Identifier: Apache-2.0
// One run with tiles that the test makes: what is answered when.
#include "tidemark/serve/served_run.h"

#include <thread>

#include <gtest/gtest.h>

#include "tidemark/analyze/testing/hand_capture.h"
#include "tidemark/base/monotonic_clock.h"

namespace tidemark {
namespace {

using Step = ServedRun::Step;

class ServedRunTest : public testing::Test {
 protected:
  void SetUp() override {
    RuntimeConfig config;
    config.cluster_count = config.scheduler_count = 1;
    config.streams[StreamId::kSwimlane] = 1;
    const samples::HandCapture capture(config);
    EXPECT_GT(capture.open(run_).chunk_count(), 0u);
    put_report("hand");
  }
  void put_report(const std::string& workload, RunStatus status = RunStatus::kOk) {
    RunReport report{.run_id = 7, .workload = workload, .platform = "sim", .status = status};
    if (status == RunStatus::kRunning) {  // by this process
      report.boot_id = boot_id();
      report.host = this_process();
      report.pid_namespace = pid_namespace();
    }
    ASSERT_TRUE(write_run_report(run_.path(), report));
  }
  static bool is_pending(const Reply& reply) {
    return reply.body.find("\"pending\"") != std::string::npos;
  }
  std::string index() { return served_.answer("index.json", {}).body; }
  // As the two threads of a shelf do.
  bool step(Step kind) {
    if (!served_.wants(kind, monotonic_ns())) return false;
    served_.take(kind);
    return true;
  }
  void make() {
    index();
    EXPECT_TRUE(step(Step::kSketch));
    EXPECT_TRUE(step(Step::kTiles));
  }

  samples::TemporaryDirectory run_, cache_;
  std::string text_ = "tile";
  std::string error_;
  TileMaking making_{
      .sketch = [](RunCapture&,
                   TileSink& sink) { return sink.put_text("index.json", "{\"a\":1}"); },
      .whole = [this](RunCapture&, TileSink& sink, MakingProgress&) -> Expected<void> {
        if (!error_.empty()) return failure(ErrorKind::kDamage, "{}", error_);
        TM_TRY_DO(sink.put_text("t/0", "older"));
        TM_TRY_DO(sink.put_text("t/0", text_));
        return sink.put_text("index.json", "{\"b\":2}");
      }};
  ServedRun served_{{.directory = run_.path(), .cache_folder = cache_.path(), .making = &making_}};
};

TEST_F(ServedRunTest, NothingIsMadeBeforeSomebodyAsks) {
  EXPECT_FALSE(step(Step::kSketch));
  EXPECT_FALSE(step(Step::kTiles));
  EXPECT_TRUE(is_pending(served_.answer("index.json", {})));
  EXPECT_EQ(served_.answer("t/0", {}).status, 404);
  EXPECT_FALSE(step(Step::kTiles)) << "the sketch comes first";
  EXPECT_TRUE(step(Step::kSketch));
}

TEST_F(ServedRunTest, ThenTheTilesAreThereUnderTheirGenerationAndWithoutIt) {
  make();
  EXPECT_EQ(index(), R"({"generation":1,"live":false,"blobs":"g1/","b":2})");
  const Reply tile = served_.answer("g1/t/0", {});
  EXPECT_EQ(tile.body, "tile") << "the newer bytes of a name count";
  EXPECT_EQ(tile.keep, Reply::Keep::kForever);
  EXPECT_EQ(served_.answer("t/0", {}).body, "tile");
  EXPECT_EQ(served_.answer("t/0", {}).keep, Reply::Keep::kNot);
  EXPECT_EQ(served_.answer("t/1", {}).status, 404);
  EXPECT_EQ(served_.answer("g2/t/0", {}).status, 404);
  EXPECT_FALSE(step(Step::kTiles)) << "nothing has changed";
}

TEST_F(ServedRunTest, ARunThatChangesGetsANewGenerationAndTheOneBeforeIsKept) {
  make();
  for (std::uint64_t generation = 2; generation <= 3; ++generation) {
    text_ = "tile " + std::to_string(generation);
    put_report(std::string(generation * 10, 'x'));
    index();
    EXPECT_FALSE(served_.wants(Step::kTiles, monotonic_ns())) << "more than once a second";
    ASSERT_TRUE(served_.wants(Step::kTiles, monotonic_ns() + 2'000'000'000));
    served_.take(Step::kTiles);
  }
  EXPECT_EQ(served_.answer("g3/t/0", {}).body, "tile 3");
  EXPECT_EQ(served_.answer("g2/t/0", {}).body, "tile 2");
  EXPECT_EQ(served_.answer("g1/t/0", {}).status, 410);
}

TEST_F(ServedRunTest, WhatNobodyLooksAtIsNotMadeAgain) {
  make();
  put_report("other");
  EXPECT_FALSE(served_.wants(Step::kTiles, monotonic_ns() + 60'000'000'000));
}

TEST_F(ServedRunTest, AnErrorIsShownUntilTheFilesChange) {
  error_ = "it is <b>broken</b>\x1b[31m";
  make();
  const std::string text = index();
  EXPECT_NE(text.find("it is <b>broken</b>?[31m"), std::string::npos) << text;
  EXPECT_NE(text.find("\"workload\": \"hand\""), std::string::npos) << "what the run was is known";
  EXPECT_FALSE(served_.wants(Step::kTiles, monotonic_ns() + 2'000'000'000));
  error_.clear();
  put_report("mended");
  ASSERT_TRUE(served_.wants(Step::kTiles, monotonic_ns() + 4'000'000'000));
  served_.take(Step::kTiles);
  EXPECT_EQ(index(), R"({"generation":1,"live":false,"blobs":"g1/","b":2})");
}

TEST_F(ServedRunTest, WhoHasTheNewestIndexGetsNoOther) {
  make();
  const Reply reply = served_.answer("index.json", {});
  ASSERT_FALSE(reply.etag.empty());
  EXPECT_EQ(served_.answer("index.json", reply.etag).status, 304);
  EXPECT_EQ(served_.answer("index.json", "\"something else\"").status, 200);
}

// A page that looks on until the run has ended must not stop before its end is there.
TEST_F(ServedRunTest, ItIsLiveUntilTheTilesOfItsEndAreMade) {
  put_report("hand", RunStatus::kRunning);
  make();
  EXPECT_NE(index().find("\"generation\":1,\"live\":true"), std::string::npos) << index();
  put_report("hand");
  making_.whole = [&](RunCapture&, TileSink& sink, MakingProgress& progress) {
    progress.records = 10;
    progress.records_done = 4;
    const std::string meanwhile = index();
    EXPECT_NE(meanwhile.find("\"generation\":1,\"live\":true"), std::string::npos) << meanwhile;
    EXPECT_NE(meanwhile.find(R"("making":{"records_done":4,"records":10})"), std::string::npos);
    return sink.put_text("index.json", "{\"end\":1}");
  };
  index();
  ASSERT_TRUE(served_.wants(Step::kTiles, monotonic_ns() + 5'000'000'000));
  served_.take(Step::kTiles);
  EXPECT_EQ(index(), R"({"generation":2,"live":false,"blobs":"g2/","end":1})");
}

TEST_F(ServedRunTest, RequestsAreAnsweredWhileTilesAreMade) {
  make();
  std::atomic<bool> ends{false};
  std::jthread asks([&] {
    while (!ends) {
      EXPECT_EQ(served_.answer("index.json", {}).status, 200);
      const int status = served_.answer("g1/t/0", {}).status;
      EXPECT_TRUE(status == 200 || status == 410) << status;
    }
  });
  for (int i = 0; i < 20; ++i) served_.take(Step::kTiles);
  ends = true;
}

TEST_F(ServedRunTest, NoFileIsLeftInTheCacheNorIsOneSeenThere) {
  make();
  EXPECT_TRUE(std::filesystem::is_empty(cache_.path()));
}

}  // namespace
}  // namespace tidemark
