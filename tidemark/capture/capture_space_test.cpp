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

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tidemark/base/file_size_signal.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_reader.h"
#include "tidemark/capture/testing/sample_pages.h"

namespace tidemark {
namespace {

using samples::kRunId;
using samples::make_page;

constexpr std::uint32_t kSpansPerPage = 500;
constexpr std::uint64_t kLanesBytes = 800 * sizeof(LaneRecord);  // most of the reserve

// Files that are written into ready space alone, files that may be written directly from some size
// on, and files on a file system that is not mapped.
struct WayToWrite {
  std::uint64_t direct_from_bytes;
  bool may_map;
};
void PrintTo(const WayToWrite& way, std::ostream* out) {
  *out << (way.may_map ? "mapped" : "called") << " from " << way.direct_from_bytes;
}

class CaptureSpaceTest : public testing::TestWithParam<WayToWrite> {
 protected:
  [[nodiscard]] static CaptureSpace::Options options() {
    CaptureSpace::Options options;
    options.direct_from_bytes = GetParam().direct_from_bytes;
    options.may_map = GetParam().may_map;
    return options;
  }
  [[nodiscard]] static CaptureSpace::Options limited_to(std::uint64_t bytes) {
    CaptureSpace::Options limited = options();
    limited.mapping_bytes = bytes;
    return limited;
  }
};
constexpr std::uint64_t kNever = ~std::uint64_t{0};
INSTANTIATE_TEST_SUITE_P(Ways, CaptureSpaceTest,
                         testing::Values(WayToWrite{kNever, true}, WayToWrite{0, true},
                                         WayToWrite{3ull << 20, true}, WayToWrite{kNever, false},
                                         WayToWrite{0, false}),
                         [](const auto& way) {
                           return fmt::format("{}From{}", way.param.may_map ? "Mapped" : "Called",
                                              way.param.direct_from_bytes == kNever
                                                  ? "Never"
                                                  : std::to_string(way.param.direct_from_bytes));
                         });

// Appends until the capture refuses. Returns the pages it took.
std::uint64_t fill(CaptureWriter& writer, std::uint32_t lane, std::uint64_t most) {
  for (std::uint64_t sequence = 1; sequence <= most; ++sequence)
    if (!writer.append(make_page(lane, sequence, kSpansPerPage).delivery())) return sequence - 1;
  return most;
}

void expect_whole(const std::string& path, std::uint64_t pages) {
  for (const auto how : {CaptureReader::Open::kIndexed, CaptureReader::Open::kScan}) {
    auto reader = CaptureReader::open(path, how).value();
    EXPECT_TRUE(reader.damage().empty());
    EXPECT_TRUE(reader.unfinished().empty());
    EXPECT_NE(reader.last_of(ChunkType::kClock), nullptr);
    ASSERT_NE(reader.last_of(ChunkType::kLanes), nullptr);
    EXPECT_EQ(reader.last_of(ChunkType::kLanes)->payload_bytes, kLanesBytes);
    std::uint64_t found = 0;
    for (const auto& chunk : reader.chunks()) {
      if (chunk.type != ChunkType::kPage) continue;
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
  EXPECT_TRUE(writer.append_lanes(std::vector<unsigned char>(kLanesBytes, 1), false));
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
  EXPECT_FALSE(writer->append(make_page(1, 1, kSpansPerPage).delivery())) << "nor of another lane";
  const auto text = writer->append_text(ChunkType::kNames, std::string(20'000, ' '));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::kFile);
  EXPECT_NE(writer->error().find(path), std::string::npos) << writer->error();
  close_capture(*writer);
  EXPECT_LE(std::filesystem::file_size(path), 5ull << 20);
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
  explicit FileSizeLimit(rlim_t bytes) {
    make_file_size_limit_an_error();  // as every host of a run does
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = old_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &old_); }

 private:
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

// A file system of four megabytes; a limit on the file where none may be mounted.
int fill_small_file_system(const CaptureSpace::Options& options) {
  const samples::TemporaryDirectory directory;
  const bool mounted = ::unshare(CLONE_NEWNS) == 0 &&
                       ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=4m") == 0;
  const FileSizeLimit limit(mounted ? RLIM_INFINITY : 4 << 20);
  const std::string path = directory.file("capture.tide");
  std::uint64_t pages = 0;
  {
    auto writer = CaptureWriter::create(path, kRunId, options).value();
    pages = fill(*writer, 0, 10'000);
    EXPECT_NE(writer->error().find(mounted ? "No space left" : "File too large"), std::string::npos)
        << writer->error();
    EXPECT_NE(writer->error().find(path), std::string::npos) << writer->error();
    close_capture(*writer);
  }
  // Used to its end: all but the space kept back, what is ready after it when the file is first
  // written directly, and what a page needs.
  EXPECT_GT(pages * (kSpansPerPage * 32 + 192), (4u << 20) - (768u << 10));
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
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_P(CaptureSpaceTest, ADiskThatIsFreedIsUsedAgain) {
  samples::TemporaryDirectory directory;
  const std::string path = directory.file("capture.tide");
  CaptureSpace::Options again = options();
  again.retry_ms = 0;
  std::uint64_t pages = 0;
  auto writer = [&] {
    const FileSizeLimit limit(5 << 20);
    auto made = CaptureWriter::create(path, kRunId, again).value();
    pages = fill(*made, 0, 10'000);
    return made;
  }();
  EXPECT_LT(pages, 400u);
  EXPECT_FALSE(writer->error().empty());
  const std::uint64_t refused = writer->refused_bytes();
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(fill(*writer, 1, 300), 300u);
  EXPECT_TRUE(writer->append_text(ChunkType::kNames, "{}"));
  EXPECT_EQ(writer->refused_bytes(), refused);
  close_capture(*writer);
  expect_whole(path, pages + 300);
  EXPECT_TRUE(CaptureReader::open(path)->used_index());
}

TEST_P(CaptureSpaceTest, WhatIsRefusedIsNotAskedAgainForEveryPage) {
  samples::TemporaryDirectory directory;
  CaptureSpace::Options patient = options();
  patient.retry_ms = 1'000'000;
  auto writer = [&] {
    const FileSizeLimit limit(5 << 20);
    auto made = CaptureWriter::create(directory.file("capture.tide"), kRunId, patient).value();
    fill(*made, 0, 10'000);
    return made;
  }();
  EXPECT_FALSE(writer->append(make_page(1, 1, kSpansPerPage).delivery())) << "space came back";
  close_capture(*writer);  // looks for itself
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
  EXPECT_TRUE(writer->finish());
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
  // In memory where there is room, as it is faster.
  struct statvfs info {};
  const bool has_room =
      ::statvfs("/dev/shm", &info) == 0 && info.f_bavail * info.f_frsize >= 3ull << 30;
  samples::TemporaryDirectory directory(has_room ? "/dev/shm" : testing::TempDir());
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
