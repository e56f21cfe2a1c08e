// SPDX-License-Identifier: Apache-2.0
// 'tidemark check' on files that were damaged by hand, by its command line: each kind of damage has
// the documented exit code and a line that names the place. And what 'run' itself reports as lost.
#include "tests/streams_fixture.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/chunk.h"

namespace tidemark {
namespace {

class CheckDamage : public Streams {
 protected:
  void SetUp() override {
    Streams::SetUp();
    run_ok("run synthetic_producer --lanes 2 --records 3000 --page-bytes 4096 --output-prefix a");
    run_ok("check a");
    EXPECT_TRUE(text_.ends_with("\nsound\n")) << text_;
    bytes_ = samples::read_bytes(capture());
    report_ = read(path("a/run.json"));
    find_chunks();
  }

  std::string capture() const { return path("a/capture.tide"); }
  std::uint64_t number(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | bytes_[at + i];
    return value;
  }
  // By the offsets that FORMAT.md gives.
  void find_chunks() {
    pages_.clear();
    chunks_.clear();
    for (std::size_t at = 0; at + 64 <= bytes_.size() && number(at, 4) == 0x45444954;) {
      if (number(at + 4, 2) == 2) pages_.push_back(at);
      chunks_.push_back(at);
      at += (64 + number(at + 32, 8) + 63) / 64 * 64;
    }
    ASSERT_GT(pages_.size(), 10u);
  }
  void write_capture(const std::vector<unsigned char>& bytes) {
    samples::write_bytes(capture(), bytes);
  }
  void write_report(const std::string& text) { std::ofstream(path("a/run.json")) << text; }
  void put_back() {
    write_capture(bytes_);
    write_report(report_);
  }
  // A byte of a chunk's payload, with checksums as if it had been written so, also in the index.
  std::vector<unsigned char> forged(std::size_t chunk, std::size_t offset, unsigned char change) {
    auto bytes = bytes_;
    bytes[chunk + 64 + offset] = static_cast<unsigned char>(bytes[chunk + 64 + offset] ^ change);
    const std::uint64_t sum = seal(bytes, chunk);
    for (const std::size_t at : chunks_) {
      if (number(at + 4, 2) != 6) continue;
      for (std::size_t line = at + 64; line < at + 64 + number(at + 32, 8); line += 48)
        if (number(line, 8) == chunk) std::memcpy(bytes.data() + line + 16, &sum, 8);
      seal(bytes, at);
    }
    return bytes;
  }
  static std::uint64_t seal(std::vector<unsigned char>& bytes, std::size_t chunk) {
    ChunkHeader header{};
    std::memcpy(&header, bytes.data() + chunk, sizeof(header));
    header.payload_checksum = checksum(bytes.data() + chunk + 64, header.payload_bytes);
    header.header_checksum = checksum_of_header(header);
    std::memcpy(bytes.data() + chunk, &header, sizeof(header));
    return header.payload_checksum;
  }

  // Exit code 4, as many problems as it says, and one of them has all the words.
  void expect_damage(const std::vector<std::string>& words) {
    const Finished done = run("check a");
    EXPECT_EQ(done.exit_code, 4) << done.out << done.error;
    std::stringstream lines(done.out);
    std::size_t problems = 0, naming = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  problem    ")) continue;
      ++problems;
      bool all = true;
      for (const auto& word : words) all = all && line.find(word) != std::string::npos;
      naming += all ? 1 : 0;
    }
    EXPECT_GE(naming, 1u) << words.front() << "\n" << done.out;
    EXPECT_NE(done.out.find(fmt::format("\ndamaged or incomplete: {} problem", problems)),
              std::string::npos)
        << done.out;
    EXPECT_EQ(done.out.find("sound"), std::string::npos) << done.out;
    put_back();
  }
  void edit_report(const std::string& from, const std::string& to) {
    std::string text = report_;
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_report(text.replace(at, from.size(), to));
  }

  std::vector<unsigned char> bytes_;
  std::string report_;
  std::vector<std::size_t> pages_, chunks_;  // where their headers stand
};

TEST_F(CheckDamage, OfAPageIsNamedByItsPlace) {
  const std::size_t page = pages_[pages_.size() / 2];
  for (const std::size_t at : {page + 64 + 200, page + 64}) {
    auto bytes = bytes_;
    bytes[at] ^= 1;
    write_capture(bytes);
    expect_damage({"capture.tide", fmt::format(" at {} ", page), "cannot be read"});
  }
  for (const std::size_t at : {page, page + 5, page + 30, page + 60}) {  // its header
    auto bytes = bytes_;
    bytes[at] ^= 0x10;
    write_capture(bytes);
    expect_damage({"capture.tide", fmt::format(" at {} ", page), "cannot be read"});
  }
}

TEST_F(CheckDamage, OfTheEndIsToldWhereverItIsCut) {
  const std::size_t page = pages_[pages_.size() / 2];
  for (const std::size_t size : {page, page + 30, page + 64 + 100, page + 64}) {
    write_capture({bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size)});
    expect_damage({"the capture's end is lost"});
  }
  write_capture({});
  const Finished empty = run("check a");
  EXPECT_EQ(empty.exit_code, 4) << empty.out << empty.error;
  EXPECT_NE(empty.error.find("capture.tide"), std::string::npos) << empty.error;
}

TEST_F(CheckDamage, OfWhatTheCaptureSaysWithRightChecksums) {
  // A record of another content: the 20th of its page.
  write_capture(forged(pages_[1], 128 + 20 * 32 + 2, 0x40));
  expect_damage({"producer ", ": number ", " does not hold what was written"});
  // A page that says that it is another one.
  write_capture(forged(pages_[1], 0, 0x01));
  expect_damage({"page out of sequence: 1 times"});
}

TEST_F(CheckDamage, OfFilesThatAreNotThere) {
  fs::remove(capture());
  expect_damage({"a/capture.tide is missing"});
  fs::remove(path("a/run.json"));
  expect_refused("check a", 2, "a is not a run: it has no run.json");
  write_report(report_.substr(0, report_.size() / 2));
  expect_refused("check a", 4, "a/run.json is not a JSON object");
  write_report("{}\n");
  expect_refused("check a", 4, "a/run.json has no run_id");
}

TEST_F(CheckDamage, OfTotalsThatDoNotAgree) {
  // The sum of a stream comes before the counts of its lanes, which are what is compared.
  const auto lanes = report_.find("\"lanes\": [");
  ASSERT_NE(lanes, std::string::npos);
  const auto lie = [&](const std::string& key, std::uint64_t said, std::uint64_t lied) {
    std::string text = report_;
    const std::string before = fmt::format("\"{}\": {},", key, said);
    const auto at = text.find(before, lanes);
    ASSERT_NE(at, std::string::npos) << before;
    write_report(text.replace(at, before.size(), fmt::format("\"{}\": {},", key, lied)));
    expect_damage({fmt::format("run.json says {} {}, the capture holds {}", key, lied, said)});
  };
  lie("delivered", 3000, 2999);
  lie("produced", 3000, 3001);
  lie("recovered", 0, 5);
  lie("dropped", 0, 1);
  lie("overwritten", 0, 7);
  lie("incomplete", 0, 2);
}

TEST_F(CheckDamage, OfARunThatNeverEndedOrIsAnother) {
  edit_report("\"status\": \"ok\"", "\"status\": \"running\"");
  expect_damage({"still going on", "tidemark recover"});
  edit_report("\"workload\": \"synthetic_producer\"", "\"workload\": \"\"");
  expect_damage({"run.json lacks a required field"});
  run_ok("run synthetic_producer --lanes 2 --records 3000 --page-bytes 4096 --output-prefix b");
  write_report(read(path("b/run.json")));
  expect_damage({"run.json and the capture are of different runs"});
  edit_report("\"loss_known\": true", "\"loss_known\": false");
  expect_damage({"the region was gone at recovery"});
}

TEST_F(CheckDamage, OfADumpedTensorIsNamedByTaskAndArgument) {
  fs::remove_all(path("a"));
  run_ok("run vector_example --dump-tensor --page-bytes 65536 --output-prefix a");
  bytes_ = samples::read_bytes(capture());
  report_ = read(path("a/run.json"));
  find_chunks();
  std::erase_if(pages_, [&](std::size_t at) { return number(at + 32, 8) < 60'000; });
  ASSERT_GE(pages_.size(), 5u) << "pages full of payload";
  run_ok("check a");
  EXPECT_NE(text_.find("13 tensors have the hash that the device computed"), std::string::npos);
  write_capture(forged(pages_[2], 30'000, 0x80));
  expect_damage({"the dump of task ", ", argument ", "other bytes than the device hashed"});
}

TEST_F(CheckDamage, OfARecordingIsExitCodeFourOfTheRunToo) {
  // A drainer that stopped: what was to be lossless lost something.
  const Finished lost =
      run("run synthetic_producer --lanes 2 --records 9000 --page-bytes 4096 --pool-bytes 65536 "
          "--drain-timeout-ms 200 --inject drain_stop --output-prefix lost");
  EXPECT_EQ(lost.exit_code, 4) << lost.out << lost.error;
  const auto json = json_of("lost/run.json");
  EXPECT_EQ(json["exit_code"].GetInt(), 4);
  const auto& counts = json["streams"]["swimlane"];
  EXPECT_EQ(counts["produced"].GetUint64(), 18'000u);
  EXPECT_GT(counts["dropped"].GetUint64(), 10'000u);
  EXPECT_EQ(counts["delivered"].GetUint64() + counts["dropped"].GetUint64(), 18'000u);
  EXPECT_NE(lost.out.find("dropped"), std::string::npos);
  EXPECT_EQ(run("check lost").exit_code, 0) << "the loss is told, so the files are sound";
}

}  // namespace
}  // namespace tidemark
