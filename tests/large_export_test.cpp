// SPDX-License-Identifier: Apache-2.0
// Exports of a long run take the memory of a short one: a million spans, as JSON and as a trace, in
// a process whose memory is limited.
#include "tests/command_line_fixture.h"

namespace tidemark {
namespace {

class LargeExport : public CommandLine {};

TEST_F(LargeExport, AMillionSpansNeedNoMoreMemoryThanAFew) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have memory of their own";
#endif
  ASSERT_EQ(run("run synthetic_producer --lanes 4 --records 250000 --output-prefix r").exit_code,
            0);
  for (const char* file : {"l2_swimlane_records.json", "trace.pftrace"}) {
    // Address space, of which resident memory is a part; mappings of libraries are about 20 MB.
    const Finished done = run(fmt::format("export r {}", file), "ulimit -v 200000;");
    EXPECT_EQ(done.exit_code, 0) << done.error;
    EXPECT_GT(fs::file_size(path(std::string("r/") + file)), 50'000'000u);
  }
  const std::string text = read(path("r/l2_swimlane_records.json"));
  std::size_t rows = 0;
  for (std::size_t at = text.find("\"task_id\""); at != std::string::npos;
       at = text.find("\"task_id\"", at + 1))
    ++rows;
  EXPECT_EQ(rows, 1'000'000u);
}

}  // namespace
}  // namespace tidemark
