// SPDX-License-Identifier: Apache-2.0
// Another process stores random words into the region of a run that is going on: lanes, counters,
// rings, status, pages. However the run ends, its host ends by itself, with one of its exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <random>

#include "tests/hang_fixture.h"
#include "tidemark/device/region_file.h"
#include "tidemark/transport/region_layout.h"

namespace tidemark {
namespace {

class HostileLive : public HangFixture {
 protected:
  // The region's file once the run has one; not valid: the run was faster.
  UniqueFd open_region(pid_t host, std::optional<ProgramEnd>& end) {
    for (;;) {
      if (const auto report = read_run_report(path("r")); report && report->run_id != 0)
        if (UniqueFd fd(::open(region_path(report->run_id).c_str(), O_RDWR | O_CLOEXEC));
            fd.valid())
          return fd;
      if ((end = wait_for(host, 0))) return {};
    }
  }
};

TEST_F(HostileLive, RandomWordsInARunningRegionNeverTakeTheHostDown) {
  std::size_t scribbled = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const char* platforms[] = {"sim", "a2a3sim", "a5sim"};
    const char* programs[] = {"paged_attention", "bgemm", "mixed_example"};
    fs::remove_all(path("r"));
    const pid_t host =
        start(fmt::format("run {} -p {} {} --dump-tensor --page-bytes 4096 --inject drain_slow=300 "
                          "--scheduler-timeout-ms 800 --drain-timeout-ms 800 --op-timeout-ms 6000 "
                          "--output-prefix r >out.txt 2>&1",
                          programs[random() % 3], platforms[random() % 3], kAllStreams),
              TIDEMARK_EXECUTABLE);
    std::optional<ProgramEnd> end;
    if (const UniqueFd region = open_region(host, end); region.valid()) {
      ++scribbled;
      const auto bytes = static_cast<std::uint64_t>(::lseek(region.get(), 0, SEEK_END));
      for (std::uint64_t i = 0; i < std::uint64_t{1} << random() % 9; ++i) {
        // Behind the header, half of it in the tables in front of the pages.
        const std::uint64_t most =
            random() % 2 == 0 ? std::min<std::uint64_t>(bytes, 400'000) : bytes;
        const std::uint64_t at =
            kRegionHeaderBytes + random() % (most - kRegionHeaderBytes) / 8 * 8;
        const std::uint64_t word = random() % 3 == 0 ? ~std::uint64_t{0} : random();
        EXPECT_EQ(::pwrite(region.get(), &word, 8, static_cast<off_t>(at)), 8);
      }
    }
    if (!end) end = wait_for(host, kPatienceMs);
    if (!end) ::kill(host, SIGKILL);
    ASSERT_TRUE(end) << "the host does not end";
    EXPECT_EQ(end->signal, 0) << read(path("out.txt"));
    EXPECT_LE(end->exit_code, 5) << read(path("out.txt"));
    const auto report = read_run_report(path("r"));
    ASSERT_TRUE(report);
    EXPECT_NE(report->status, "running");
  }
  EXPECT_GT(scribbled, 15u);
}

}  // namespace
}  // namespace tidemark
