// SPDX-License-Identifier: Apache-2.0
// check_run finds nothing in a sound run, and something in every run that is not.
#include "tidemark/analyze/check_run.h"

#include <unistd.h>

#include <algorithm>

#include <gtest/gtest.h>

#include "tidemark/session/testing/sample_run.h"

namespace tidemark {
namespace {

class CheckRunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = samples::write_sample_run(directory_.path());
    bytes_ = samples::read_bytes(capture_);
  }
  [[nodiscard]] CheckResult check() const {
    auto result = check_run(directory_.path(), {});
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : CheckResult{};
  }
  // True if a problem holds this text.
  static bool says(const CheckResult& result, const std::string& text) {
    return std::any_of(
        result.problems.begin(), result.problems.end(),
        [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }

  samples::TemporaryDirectory directory_;
  const std::string capture_ = directory_.file("capture.tide");
  samples::SampleRun run_;
  std::vector<unsigned char> bytes_;
};

TEST_F(CheckRunTest, FindsNothingInASoundRun) {
  const CheckResult result = check();
  EXPECT_EQ(result.problems, std::vector<std::string>{});
  EXPECT_EQ(result.notes, std::vector<std::string>{});
  EXPECT_EQ(result.file_bytes, bytes_.size());
  EXPECT_EQ(result.counted.produced, run_.report.total().produced);
  EXPECT_EQ(result.counted.dropped, run_.report.total().dropped);
  EXPECT_EQ(result.counted.overwritten, run_.report.total().overwritten);
  EXPECT_GT(result.pages, 5u);
}

TEST_F(CheckRunTest, AsksTheContentCheckAboutEveryPage) {
  std::uint64_t pages = 0;
  const auto result = check_run(
      directory_.path(), [&](const CapturedPage& page, std::vector<std::string>& problems) {
        ++pages;
        problems.push_back(fmt::format("page of lane {}", page.header.lane));
        return std::uint64_t{3};
      });
  ASSERT_TRUE(result);
  EXPECT_EQ(pages, result->pages);
  EXPECT_EQ(result->verified_records, 3 * pages);
  EXPECT_EQ(result->problems.size(), pages);
}

// Sealed with right checksums: only a comparison can tell.
TEST_F(CheckRunTest, FindsAnIndexThatNamesOtherChunks) {
  const IndexEntry at = *CaptureReader::open(capture_)->last_of(ChunkType::kIndex);
  IndexEntry* entries =
      reinterpret_cast<IndexEntry*>(bytes_.data() + at.file_offset + sizeof(ChunkHeader));
  auto* header = reinterpret_cast<ChunkHeader*>(bytes_.data() + at.file_offset);
  const auto change = [&](std::size_t entry, void (*edit)(IndexEntry&)) {
    const std::vector<unsigned char> sound = bytes_;
    edit(entries[entry]);
    header->payload_checksum = checksum(entries, at.payload_bytes);
    header->header_checksum = checksum_of_header(*header);
    samples::write_bytes(capture_, bytes_);
    std::copy(sound.begin(), sound.end(), bytes_.begin());
    ASSERT_TRUE(CaptureReader::open(capture_)->used_index()) << "a reader believes it";
    EXPECT_TRUE(says(check(), "its index names other chunks")) << "entry " << entry;
  };
  change(1, [](IndexEntry& entry) { entry.lane ^= 1; });
  change(2, [](IndexEntry& entry) { entry.type = ChunkType::kNames; });
  change(3, [](IndexEntry& entry) { entry.sequence += 1; });
}

TEST_F(CheckRunTest, FindsEveryTruncation) {
  auto reader = CaptureReader::open(capture_).value();
  const IndexEntry index = *reader.last_of(ChunkType::kIndex);
  const IndexEntry end = *reader.last_of(ChunkType::kEnd);
  const std::uint64_t end_of_index = index.file_offset + sizeof(ChunkHeader) + index.payload_bytes;
  for (std::uint64_t size = bytes_.size(); size > 1; size -= std::min<std::uint64_t>(size, 37)) {
    ASSERT_EQ(::truncate(capture_.c_str(), static_cast<off_t>(size)), 0);
    // Index and end mark only save the scan: a cut between them or before both loses nothing.
    const bool nothing_lost = size == bytes_.size() || size == index.file_offset ||
                              (size >= end_of_index && size <= end.file_offset);
    const auto result = check_run(directory_.path(), {});
    EXPECT_EQ(result && result->problems.empty(), nothing_lost) << "cut at " << size;
  }
}

TEST_F(CheckRunTest, NamesTheEndThatIsLost) {
  auto reader = CaptureReader::open(capture_).value();
  const auto offset = reader.last_of(ChunkType::kLanes)->file_offset;
  ASSERT_EQ(::truncate(capture_.c_str(), static_cast<off_t>(offset)), 0);
  const CheckResult result = check();
  EXPECT_TRUE(says(result, "the capture's end is lost"));
}

TEST_F(CheckRunTest, FindsEveryFlippedBitThatMatters) {
  auto reader = CaptureReader::open(capture_).value();
  for (const auto& chunk : reader.chunks()) {
    for (const std::uint64_t at : {chunk.file_offset + 20, chunk.file_offset + 64 + 7}) {
      if (at >= chunk.file_offset + sizeof(ChunkHeader) + chunk.payload_bytes) continue;
      auto damaged = bytes_;
      damaged[at] ^= 8;
      samples::write_bytes(capture_, damaged);
      const auto result = check_run(directory_.path(), {});
      EXPECT_TRUE(!result || says(*result, "cannot be read")) << "byte " << at;
    }
  }
}

TEST_F(CheckRunTest, FindsAReportOfAnotherRun) {
  RunReport foreign = run_.report;
  foreign.run_id ^= 1;
  ASSERT_TRUE(write_run_report(directory_.path(), foreign));
  EXPECT_TRUE(says(check(), "of different runs"));
}

TEST_F(CheckRunTest, FindsAReportThatCountsOtherwise) {
  RunReport wrong = run_.report;
  ++wrong.lanes[0].counts.delivered;
  wrong.lanes[1].counts.dropped = 0;
  wrong.lanes.push_back({.lane = 99, .stream = "swimlane"});
  ASSERT_TRUE(write_run_report(directory_.path(), wrong));
  const CheckResult result = check();
  EXPECT_TRUE(
      says(result, "lane 0 (worker 0): run.json says delivered 101, the capture holds 100"));
  EXPECT_TRUE(says(result, "lane 1 (worker 1): run.json says dropped 0"));
  EXPECT_TRUE(says(result, "names lane 99"));
}

TEST_F(CheckRunTest, FindsARunThatNeverEnded) {
  RunReport running = run_.report;
  running.status = RunStatus::kRunning;
  ASSERT_TRUE(write_run_report(directory_.path(), running));
  EXPECT_TRUE(says(check(), "still going on"));
}

TEST_F(CheckRunTest, HostileFilesAreErrorsNotCrashes) {
  samples::write_bytes(directory_.file("run.json"), std::vector<unsigned char>(300'000, '['));
  EXPECT_FALSE(check_run(directory_.path(), {}));
  ASSERT_TRUE(write_run_report(directory_.path(), run_.report));
  std::filesystem::remove(capture_);
  EXPECT_TRUE(says(check(), "is missing"));
  for (const std::string& text :
       {std::string(400'000, '['), std::string("{\"page_bytes\":7,\"lanes\":[{}]}"),
        std::string("[]")}) {
    std::filesystem::remove(capture_);
    auto writer = CaptureWriter::create(capture_, samples::kRunId).value();
    ASSERT_TRUE(writer->append_text(ChunkType::kDescription, text));
    ASSERT_TRUE(writer->finish());
    const auto result = check_run(directory_.path(), {});
    ASSERT_FALSE(result) << text.substr(0, 40);
    EXPECT_EQ(result.error().kind, ErrorKind::kDamage);
  }
  samples::write_bytes(capture_, std::vector<unsigned char>(10'000, 0xFF));
  EXPECT_FALSE(check_run(directory_.path(), {}));
}

TEST_F(CheckRunTest, ADirectoryThatIsNoRunIsAUsageError) {
  const auto result = check_run(directory_.file("nothing"), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace tidemark
