// SPDX-License-Identifier: Apache-2.0
// Lines of producers from what cuda-gdb printed of a kernel that hung on an H200, and from the core
// dump itself. In it all threads of block 65 stood at one place.
#include "tidemark/run/producer_lines.h"

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/run/producer_text.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kTicksPerSecond = 1'000'000'000;
constexpr const char* kHungLine = "probe2.cu:20, called at probe2.cu:26, called at probe2.cu:38";

std::vector<unsigned char> bytes_of(const char* file) {
  return samples::read_bytes(std::string(TIDEMARK_SOURCE_DIR "/tests/cuda_gdb/") + file);
}

DebuggerText transcript() {
  const auto bytes = bytes_of("probe_hang.txt");
  return parse_debugger_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

class ProducerLines : public testing::Test {
 protected:
  ProducerLines() {
    state_.ticks_per_second = kTicksPerSecond;
    state_.detected_ticks = 10 * kTicksPerSecond;
    add("first", {.multiprocessor = 9, .block = 65, .warp = 0});
    add("last", {.multiprocessor = 9, .block = 65, .warp = 7});
    add("elsewhere", {.multiprocessor = 9, .block = 64, .warp = 0});
    add("behind", {.multiprocessor = 9, .block = 65, .warp = 8});
    state_.producers.push_back({.producer = "a thread", .state = LaneState::kOpen, .at = "x"});
  }
  void add(const char* name, const ProducerPlace& place) {
    state_.producers.push_back({.producer = name,
                                .state = LaneState::kOpen,
                                .at = "x",
                                .since_ticks = kTicksPerSecond,
                                .place = encode_place(place)});
  }
  HangState state_;
};

TEST_F(ProducerLines, EachProducerHasTheLineOfItsOwnWarp) {
  add_producer_lines(transcript(), CoreLines(bytes_of("probe_hang.core")), state_);
  EXPECT_EQ(state_.producers[0].source, kHungLine);
  EXPECT_EQ(state_.producers[1].source, kHungLine);
  for (std::size_t i = 2; i < state_.producers.size(); ++i)
    EXPECT_EQ(state_.producers[i].source, "") << state_.producers[i].producer;
}

TEST_F(ProducerLines, WithoutTheLinesOfTheDumpTheDebuggersAreTaken) {
  add_producer_lines(transcript(), CoreLines({}), state_);
  EXPECT_EQ(state_.producers[0].source, "probe2.cu:20");
}

TEST_F(ProducerLines, NothingIsKnownWhereTheDebuggerSaidNothing) {
  add_producer_lines({}, CoreLines(bytes_of("probe_hang.core")), state_);
  for (const auto& producer : state_.producers) EXPECT_EQ(producer.source, "");
}

TEST_F(ProducerLines, OnlyThoseThatStoppedAndAreSomewhereAreAskedFor) {
  state_.producers[1].since_ticks = state_.detected_ticks;  // goes on
  const std::vector<std::string> expected = {"cuda block 65 thread 0",   "bt",
                                             "cuda block 64 thread 0",   "bt",
                                             "cuda block 65 thread 256", "bt"};
  EXPECT_EQ(questions_about_producers(state_), expected);
  for (std::uint32_t block = 0; block < 100; ++block) add("more", {.block = block});
  EXPECT_EQ(questions_about_producers(state_).size(), 24u);
}

}  // namespace
}  // namespace tidemark
