// SPDX-License-Identifier: Apache-2.0
// The mapped, the copied and the in-memory port are three ways to the same bytes.
#include "tidemark/collect/region_port.h"

#include <unistd.h>

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/process_identity.h"
#include "tidemark/collect/testing/planned_region.h"

namespace tidemark {
namespace {

RegionRequest small_request() {
  RegionRequest request;
  request.lanes = {{.producer = "a"}, {.producer = "b"}};
  request.recorder.page_bytes = 1024;
  request.run_id = std::uint64_t{this_process().pid} << 32 | 0x9047;
  return request;
}

class RegionPortTest : public testing::Test {
 protected:
  RegionPortTest() {
    plan_ = *plan_region(small_request());
    ::unlink(region_path(plan_.identity.run_id).c_str());
    file_ = std::move(*create_region_file(plan_));
    ::unlink(file_.path.c_str());
    mapped_ = std::move(*RegionPort::open(file_, Transport::kMapped));
    copied_ = std::move(*RegionPort::open(file_, Transport::kCopied));
  }
  RegionPlan plan_;
  RegionFile file_;
  RegionPort mapped_;
  RegionPort copied_;
};

TEST_F(RegionPortTest, OnlyTheMappedPortHasTheBytesInPlace) {
  EXPECT_NE(mapped_.in_place(64), nullptr);
  EXPECT_EQ(copied_.in_place(64), nullptr);
  EXPECT_EQ(mapped_.bytes(), plan_.layout.total_bytes);
  EXPECT_EQ(copied_.bytes(), plan_.layout.total_bytes);
}

TEST_F(RegionPortTest, WhatOnePortStoresTheOtherLoads) {
  std::mt19937_64 random(51);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t offset = random() % (plan_.layout.total_bytes / 8) * 8;
    const std::uint64_t value = random();
    RegionPort& writer = i % 2 == 0 ? mapped_ : copied_;
    RegionPort& reader = i % 2 == 0 ? copied_ : mapped_;
    writer.store(offset, value);
    ASSERT_EQ(reader.load(offset), value);
    writer.store32(offset + 4, static_cast<std::uint32_t>(i));
    ASSERT_EQ(reader.load32(offset + 4), static_cast<std::uint32_t>(i));
    ASSERT_EQ(reader.load32(offset), static_cast<std::uint32_t>(value)) << "the neighbour stays";
  }
}

TEST_F(RegionPortTest, BothReadTheSameBytes) {
  std::mt19937_64 random(52);
  for (std::uint64_t offset = 0; offset < plan_.layout.total_bytes; offset += 8)
    mapped_.store(offset, random());
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t size = random() % 1000 * 8;
    const std::uint64_t offset = random() % ((plan_.layout.total_bytes - size) / 8 + 1) * 8;
    std::vector<unsigned char> in_place(size), by_copy(size);
    mapped_.read(offset, in_place.data(), size);
    copied_.read(offset, by_copy.data(), size);
    ASSERT_EQ(in_place, by_copy);
    ASSERT_EQ(std::memcmp(in_place.data(), mapped_.in_place(offset), size), 0);
  }
}

TEST_F(RegionPortTest, ZeroClearsAPageAndNothingElse) {
  for (RegionPort* port : {&mapped_, &copied_}) {
    for (PageIndex page = 0; page < 3; ++page)
      for (std::uint64_t at = 0; at < 1024; at += 8)
        port->store(plan_.layout.page_offset(page) + at, ~std::uint64_t{0});
    port->zero(plan_.layout.page_offset(1), 1024);
    for (std::uint64_t at = 0; at < 1024; at += 8) {
      ASSERT_EQ(port->load(plan_.layout.page_offset(0) + at), ~std::uint64_t{0});
      ASSERT_EQ(port->load(plan_.layout.page_offset(1) + at), 0u);
      ASSERT_EQ(port->load(plan_.layout.page_offset(2) + at), ~std::uint64_t{0});
    }
  }
}

TEST_F(RegionPortTest, TypedReadsAgreeWithWhatTheDeviceStored) {
  const RegionView view(const_cast<unsigned char*>(mapped_.in_place(0)));
  view.lane(1).words.attempted.store_release(77);
  view.lane(1).words.waiting.store_release(1);
  view.page(3).sequence.store_release(9);
  view.page(3).dropped_total.store_release(5);
  for (RegionPort* port : {&mapped_, &copied_}) {
    EXPECT_EQ(read_lane_words(*port, plan_.layout, 1).attempted, 77u);
    EXPECT_EQ(read_lane_words(*port, plan_.layout, 1).waiting, 1u);
    EXPECT_EQ(read_lane_words(*port, plan_.layout, 0).attempted, 0u);
    EXPECT_STREQ(read_lane_plan(*port, plan_.layout, 1).producer, "b");
    EXPECT_EQ(read_page_header(*port, plan_.layout, 3).sequence, 9u);
    EXPECT_EQ(read_page_header(*port, plan_.layout, 3).dropped_total, 5u);
  }
}

TEST_F(RegionPortTest, AProducerNameWithoutAnEndIsCut) {
  for (std::uint64_t at = 0; at < sizeof(LanePlan); at += 8)
    mapped_.store(plan_.layout.lane_offset(0) + at, 0x4141414141414141);
  EXPECT_EQ(std::strlen(read_lane_plan(copied_, plan_.layout, 0).producer), kProducerTextBytes - 1);
}

using RegionPortDeathTest = RegionPortTest;

TEST_F(RegionPortDeathTest, AnAccessBeyondTheRegionIsABug) {
  PlannedRegion memory(small_request());
  std::uint64_t word = 0;
  for (RegionPort* port : {&mapped_, &copied_, &memory.port()}) {
    const std::uint64_t end = port->bytes();
    EXPECT_EXIT((void)port->load(end - 7), testing::KilledBySignal(SIGABRT), "CHECK");
    EXPECT_EXIT(port->store(end, 1), testing::KilledBySignal(SIGABRT), "CHECK");
    EXPECT_EXIT(port->read(end, &word, 8), testing::KilledBySignal(SIGABRT), "CHECK");
    EXPECT_EXIT(port->read(~std::uint64_t{7}, &word, 8), testing::KilledBySignal(SIGABRT), "CHECK");
    EXPECT_EXIT(port->zero(8, end), testing::KilledBySignal(SIGABRT), "CHECK");
  }
}

}  // namespace
}  // namespace tidemark
