// SPDX-License-Identifier: Apache-2.0
// A file that cannot grow stops the capture at its last whole chunk, the closing chunks still fit,
// and the process's memory does not grow with the file.
#include "tidemark/capture/capture_space.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "tests/sample_pages.h"
#include "tests/temporary_directory.h"
#include "tidemark/capture/capture_reader.h"

namespace tidemark {
namespace {

using samples::kRunId;
using samples::make_page;

constexpr std::uint32_t kSpansPerPage = 500;

// Files that are written into ready space alone, and files that may be written directly.
class CaptureSpaceTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  [[nodiscard]] static CaptureSpace::Options options() {
    CaptureSpace::Options options;
    options.direct_from_bytes = GetParam();
    return options;
  }
  [[nodiscard]] static CaptureSpace::Options limited_to(std::uint64_t bytes) {
    CaptureSpace::Options limited = options();
    limited.mapping_bytes = bytes;
    return limited;
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, CaptureSpaceTest,
                         testing::Values(~std::uint64_t{0}, std::uint64_t{0}, 3ull << 20));

// Appends until the capture refuses. Returns the pages it took.
std::uint64_t fill(CaptureWriter& writer, std::uint32_t lane, std::uint64_t most) {
  for (std::uint64_t sequence = 1; sequence <= most; ++sequence)
    if (!writer.append(make_page(lane, sequence, kSpansPerPage).delivery())) return sequence - 1;
  return most;
}

void expect_whole(const std::string& path, std::uint64_t pages) {
  for (const auto how : {CaptureReader::Open::kIndexed, CaptureReader::Open::kScan}) {
    auto reader = CaptureReader::open(path, how).value();
    EXPECT_EQ(reader.used_index(), how == CaptureReader::Open::kIndexed);
    EXPECT_TRUE(reader.damage().empty());
    EXPECT_NE(reader.last_of(ChunkType::kClock), nullptr);
    EXPECT_NE(reader.last_of(ChunkType::kLanes), nullptr);
    std::uint64_t found = 0;
    for (const auto& chunk : reader.chunks()) {
      if (chunk.type != static_cast<std::uint16_t>(ChunkType::kPage)) continue;
      ++found;
      const auto bytes = reader.read(chunk);
      ASSERT_TRUE(bytes);
      const auto expected = make_page(chunk.lane, chunk.sequence, kSpansPerPage).bytes();
      ASSERT_TRUE(std::equal(bytes->begin(), bytes->end(), expected.begin(), expected.end()));
    }
    EXPECT_EQ(found, pages);
  }
}

void close_capture(CaptureWriter& writer) {
  EXPECT_TRUE(writer.append_closing_text(ChunkType::kClock, std::string(1000, 'c')));
  EXPECT_TRUE(writer.append_lanes(std::vector<unsigned char>(64 * sizeof(LaneRecord), 1), false));
  const auto finished = writer.finish();
  EXPECT_TRUE(finished) << finished.error().message;
}

TEST_P(CaptureSpaceTest, AtItsLimitTheCaptureStopsAtTheLastWholeChunk) {
  samples::TemporaryDirectory directory;
  const std::string path = directory.file("capture.tide");
  auto writer = CaptureWriter::create(path, kRunId, limited_to(5ull << 20)).value();
  const std::uint64_t pages = fill(*writer, 0, 10'000);
  EXPECT_GT(pages, 100u);
  EXPECT_LT(pages, 400u);
  EXPECT_FALSE(writer->append(make_page(1, 1, 1).delivery())) << "later and smaller pages neither";
  const auto text = writer->append_text(ChunkType::kNames, "{}");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::kFile);
  EXPECT_NE(writer->error().find(path), std::string::npos) << writer->error();
  close_capture(*writer);
  expect_whole(path, pages);
}

TEST_P(CaptureSpaceTest, ThreadsThatMeetTheLimitLoseOnlyWhatTheyWereToldTheyLost) {
  samples::TemporaryDirectory directory;
  const std::string path = directory.file("capture.tide");
  auto writer = CaptureWriter::create(path, kRunId, limited_to(12ull << 20)).value();
  std::vector<std::thread> threads;
  std::vector<std::uint64_t> pages(4, 0);
  for (std::uint32_t lane = 0; lane < 4; ++lane)
    threads.emplace_back([&, lane] { pages[lane] = fill(*writer, lane, 10'000); });
  for (auto& thread : threads) thread.join();
  close_capture(*writer);
  expect_whole(path, pages[0] + pages[1] + pages[2] + pages[3]);
}

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = old_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }

 private:
  sighandler_t old_handler_;
  rlimit old_{};
};

TEST_P(CaptureSpaceTest, ALimitOnTheFileSizeIsAnErrorThatNamesTheFile) {
  samples::TemporaryDirectory directory;
  const std::string path = directory.file("capture.tide");
  std::uint64_t pages = 0;
  {
    const FileSizeLimit limit(9 << 20);
    auto writer = CaptureWriter::create(path, kRunId, options()).value();
    pages = fill(*writer, 0, 10'000);
    EXPECT_NE(writer->error().find(path), std::string::npos) << writer->error();
    close_capture(*writer);
  }
  EXPECT_GT(pages, 200u);
  EXPECT_LT(pages, 600u);
  expect_whole(path, pages);
}

// A file system of four megabytes, where one may be mounted: exit status 77 where not.
int fill_small_file_system(const CaptureSpace::Options& options) {
  const samples::TemporaryDirectory directory;
  const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                       ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=4m") == 0;
  if (!mounted) return 77;
  const std::string path = directory.file("capture.tide");
  std::uint64_t pages = 0;
  {
    auto writer = CaptureWriter::create(path, kRunId, options).value();
    pages = fill(*writer, 0, 10'000);
    EXPECT_NE(writer->error().find("No space left"), std::string::npos) << writer->error();
    EXPECT_NE(writer->error().find(path), std::string::npos) << writer->error();
    close_capture(*writer);
  }
  // Used to its end: all but the space kept back and what a page needs.
  // A file that is written directly has a second such space beside it.
  const std::uint64_t kept = options.direct_from_bytes < 4u << 20 ? 768u << 10 : 512u << 10;
  EXPECT_GT(pages * (kSpansPerPage * 32 + 192), (4u << 20) - kept);
  expect_whole(path, pages);
  ::umount2(directory.path().c_str(), MNT_DETACH);
  return ::testing::Test::HasFailure() ? 1 : 0;
}

TEST_P(CaptureSpaceTest, AFullFileSystemIsAnErrorCodeNeverASignal) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(fill_small_file_system(options()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount a file system";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(CaptureSpace, AnIndexThatDoesNotFitCostsOnlyTheIndex) {
  samples::TemporaryDirectory directory;
  const std::string path = directory.file("capture.tide");
  auto writer =
      CaptureWriter::create(path, kRunId, {.reserve_bytes = 8192, .mapping_bytes = 4ull << 20})
          .value();
  std::uint64_t pages = 0;
  while (writer->append(make_page(0, pages + 1, 1).delivery())) ++pages;
  EXPECT_TRUE(writer->append_lanes(std::vector<unsigned char>(sizeof(LaneRecord)), false));
  const auto finished = writer->finish();
  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().message.find(path), std::string::npos);
  auto reader = CaptureReader::open(path).value();
  EXPECT_FALSE(reader.used_index());
  EXPECT_EQ(reader.chunks().size(), pages + 1);
  EXPECT_TRUE(reader.damage().empty());
}

TEST(CaptureSpace, ASmallCaptureAllocatesLittle) {
  samples::TemporaryDirectory directory;
  const std::string path = directory.file("capture.tide");
  auto writer = CaptureWriter::create(path, kRunId).value();
  ASSERT_TRUE(writer->append(make_page(0, 1, 1).delivery()));
  EXPECT_LE(std::filesystem::file_size(path), 2u << 20);
  ASSERT_TRUE(writer->finish());
  EXPECT_LT(std::filesystem::file_size(path), 1024u);
}

std::uint64_t memory_peak_kb() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6));
  return 0;
}

TEST_P(CaptureSpaceTest, MemoryStaysBoundedWhileAGigabyteIsWritten) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory hides the figure";
#endif
  const std::string place = "/dev/shm";
  struct statvfs info {};
  if (::statvfs(place.c_str(), &info) != 0 || info.f_bavail * info.f_frsize < 3ull << 30)
    GTEST_SKIP() << place << " has no room for a gigabyte";
  samples::TemporaryDirectory directory(place);
  const auto page = make_page(0, 1, 2044);
  const std::uint64_t pages = (1ull << 30) / page.payload.size();
  const std::uint64_t before_kb = memory_peak_kb();
  auto writer = CaptureWriter::create(directory.file("capture.tide"), kRunId, options()).value();
  for (std::uint64_t i = 0; i < pages; ++i) ASSERT_TRUE(writer->append(page.delivery()));
  ASSERT_TRUE(writer->finish());
  EXPECT_GE(std::filesystem::file_size(directory.file("capture.tide")), 1ull << 30);
  EXPECT_LT(memory_peak_kb() - before_kb, 100u << 10);
}

}  // namespace
}  // namespace tidemark
