// SPDX-License-Identifier: Apache-2.0
// The one source compiled with the store hook. Its copies of the header-only rooms get a namespace
// of their own, so that no other source of the executable can be given the hooked functions.
#define TIDEMARK_TEST_STORE_HOOK
#define tidemark tidemark_stepped

#include "tidemark/collect/testing/stepped_producer.h"

#include <vector>

#include <gtest/gtest.h>

#include "tidemark/record/frame_writer.h"
#include "tidemark/record/recorder.h"
#include "tidemark/record/testing/stamped_spans.h"

namespace {

std::function<void(stepped::Stop)>& observer() {
  static std::function<void(stepped::Stop)> function;
  return function;
}

void stop_at(stepped::Stop stop) {
  if (observer()) observer()(stop);
}

struct SteppedEnv {
  static inline std::uint64_t ticks = 1000;
  static std::uint64_t now_ticks() { return ++ticks; }
  static void pause(std::uint32_t) {
    ticks += 10;
    stop_at(stepped::Stop::kPause);
  }
};

}  // namespace

namespace tidemark {
void before_shared_store() { stop_at(stepped::Stop::kStore); }
}  // namespace tidemark

namespace stepped {

using tidemark::FrameWriter;
using tidemark::Recorder;
using tidemark::RegionView;
using tidemark::TaskSpan;

void observe(std::function<void(Stop)> function) { observer() = std::move(function); }

struct Producer::Writers {
  explicit Writers(void* region) : view(region) {}
  RegionView view;
  Recorder<TaskSpan, SteppedEnv> records;
  FrameWriter<SteppedEnv> frames;
};

Producer::Producer(void* region, std::uint32_t lane, bool framed)
    : writers_(std::make_unique<Writers>(region)) {
  if (framed)
    writers_->frames = FrameWriter<SteppedEnv>(&writers_->view, lane);
  else
    writers_->records = Recorder<TaskSpan, SteppedEnv>(&writers_->view, lane);
}
Producer::~Producer() = default;

bool Producer::write(std::uint64_t number) {
  return writers_->records.write(tidemark::span_of(number));
}

bool Producer::write_frame(std::uint64_t number, std::uint32_t bytes) {
  std::vector<unsigned char> payload(bytes);
  for (std::uint32_t at = 0; at < bytes; ++at) payload[at] = frame_byte(number, at);
  return writers_->frames.write_frame(payload.data(), payload.size());
}

void Producer::flush() {
  writers_->records.flush();
  writers_->frames.flush();
}

void Producer::close() {
  writers_->records.close();
  writers_->frames.close();
}

}  // namespace stepped

namespace tidemark {
namespace {

TEST(SteppedProducer, StopsBeforeEveryStoreOfAPageTurnAndOfARecord) {
  RegionInMemory region(
      {.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, Overflow::kWait, 32)}});
  region.hand(0, 0);
  stepped::Producer producer(const_cast<RegionHeader*>(&region.header()), 0, false);
  std::uint64_t stores = 0;
  stepped::observe([&](stepped::Stop) { ++stores; });
  EXPECT_TRUE(producer.write(0));
  EXPECT_GE(stores, 20u) << "the header of the page, the lane's words and the record";
  stores = 0;
  EXPECT_TRUE(producer.write(1));
  EXPECT_EQ(stores, 4u) << "two quanta of two words";
  stepped::observe(nullptr);
}

TEST(SteppedProducer, AStoreThatIsStoppedDoesNotHappen) {
  RegionInMemory region(
      {.lanes = {RegionInMemory::lane_of(StreamId::kSwimlane, Overflow::kWait, 32)}});
  region.hand(0, 0);
  stepped::Producer producer(const_cast<RegionHeader*>(&region.header()), 0, false);
  EXPECT_TRUE(producer.write(0));
  for (std::uint64_t allowed = 0; allowed < 4; ++allowed) {
    std::uint64_t stores = 0;
    stepped::observe([&](stepped::Stop) {
      if (stores++ == allowed) throw allowed;
    });
    EXPECT_THROW(producer.write(1), std::uint64_t);
    EXPECT_EQ(spans_in(region.look_at(0)).size(), 1u);
  }
  stepped::observe(nullptr);
  EXPECT_TRUE(producer.write(1));
  EXPECT_EQ(spans_in(region.look_at(0)).size(), 2u);
}

}  // namespace
}  // namespace tidemark
