// SPDX-License-Identifier: Apache-2.0
// A host is killed while it collects from a device that goes on: pages that it took open grow
// afterwards. The recovery takes them again, and every record is there once. A simulated device is
// held still while it is collected from, so the test lets it go on, as a GPU would.
#include <unistd.h>

#include <map>
#include <tuple>

#include "tests/command_line_fixture.h"
#include "tidemark/capture/page_chunks.h"

namespace tidemark {
namespace {

class GrownPage : public CommandLine {
 protected:
  // Pages that are in the capture more than once.
  std::size_t pages_taken_twice(const std::string& run) const {
    auto reader = CaptureReader::open(path(run + "/capture.tide")).value();
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, int> times;
    for (const IndexEntry& chunk : reader.chunks())
      if (chunk.type == ChunkType::kPage) ++times[{chunk.lane, chunk.epoch, chunk.sequence}];
    std::size_t twice = 0;
    for (const auto& [key, count] : times) twice += count > 1;
    EXPECT_EQ(page_chunks(reader).size(), times.size()) << "of each page one copy counts";
    return twice;
  }
};

TEST_F(GrownPage, IsTakenAgainByTheRecovery) {
  for (const std::string frames : {"", " --frame-bytes 300"}) {
    const std::string begin = "run synthetic_producer --lanes 2 --rate 400 --seconds 20" + frames;
    const Finished killed = run(begin +
                                " --ignore-abort --op-timeout-ms 600 --inject kill@recovery:3 "
                                "--inject no_hold "
                                "--output-prefix grown --force");
    ASSERT_EQ(killed.exit_code, 137) << killed.error;
    ::usleep(1'500'000);  // the device has a while before its supervisor ends it
    const Finished recovered = run("recover grown");
    ASSERT_EQ(recovered.exit_code, 0) << recovered.out << recovered.error;
    EXPECT_NE(recovered.out.find("ledger     closed"), std::string::npos) << recovered.out;
    EXPECT_GE(pages_taken_twice("grown"), 1u) << "the device went on";
    const Finished checked = run("check grown");
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.error;
    EXPECT_NE(checked.out.find("sound"), std::string::npos) << checked.out;
    EXPECT_EQ(run("recover grown").exit_code, 0) << "nothing is left to do";
  }
}

}  // namespace
}  // namespace tidemark
