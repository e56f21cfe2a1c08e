// SPDX-License-Identifier: Apache-2.0
// Test support: the files of a run and its region, put away and put back, and what a run says:
// every page with its bytes, and the lanes as run.json has them.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/child_process.h"
#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_reader.h"
#include "tidemark/device/region_file.h"
#include "tidemark/run/run_report.h"
#include "tidemark/session/active_run.h"

namespace tidemark::storage {

namespace fs = std::filesystem;
using FileBytes = std::vector<unsigned char>;

// A command line without quotes.
inline std::vector<std::string> words(const std::string& line) {
  std::istringstream text(line);
  return {std::istream_iterator<std::string>(text), std::istream_iterator<std::string>()};
}

struct RunFiles {
  std::map<std::string, FileBytes> files;
  std::string region;  // its path
  bool has_region = false;
  FileBytes region_bytes;

  bool operator==(const RunFiles&) const = default;
};

// `with_region`: its bytes too, not only whether it is there.
inline RunFiles read_run_files(const std::string& directory, const std::string& region,
                               bool with_region) {
  RunFiles run;
  for (const auto& entry : fs::directory_iterator(directory))
    run.files[entry.path().filename().string()] = samples::read_bytes(entry.path().string());
  run.region = region;
  run.has_region = fs::exists(region);
  if (run.has_region && with_region) run.region_bytes = samples::read_bytes(region);
  return run;
}

inline void put_file(const std::string& path, const FileBytes& bytes) {
  fs::remove(path);
  samples::write_bytes(path, bytes);
  ::chmod(path.c_str(), 0600);
}

// The directory holds these files and no other afterwards.
inline void put_run_files(const RunFiles& run, const std::string& directory,
                          const FileBytes& region_bytes) {
  fs::remove_all(directory);
  fs::create_directories(directory);
  for (const auto& [name, bytes] : run.files) put_file(directory + "/" + name, bytes);
  fs::remove(run.region);
  if (run.has_region) put_file(run.region, region_bytes);
}

// What two runs are compared by.
struct RunContent {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, FileBytes> pages;
  std::vector<std::string> lanes;
  std::string status;
  int exit_code = 0;
  std::uint64_t records = 0;

  bool operator==(const RunContent&) const = default;
};

inline RunContent read_content(const std::string& directory) {
  RunContent content;
  const auto report = read_run_report(directory);
  EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
  if (!report) return content;
  content.status = to_text(report->status);
  content.exit_code = report->exit_code;
  for (const auto& lane : report->lanes) {
    const LaneCounts& counts = lane.counts;
    EXPECT_TRUE(counts.closes()) << "lane " << lane.lane;
    content.records += counts.delivered + counts.recovered;
    content.lanes.push_back(fmt::format(
        "{} {} {} {} produced {} kept {} dropped {} overwritten {} incomplete {} pages {}",
        lane.lane, lane.stream, lane.state, lane.policy, counts.produced,
        counts.delivered + counts.recovered, counts.dropped, counts.overwritten, counts.incomplete,
        counts.pages));
  }
  // A run that was killed before it had a capture has no pages.
  if (!fs::exists(directory + "/" + kCaptureFile)) return content;
  auto reader = CaptureReader::open(directory + "/" + kCaptureFile, CaptureReader::Open::kScan);
  EXPECT_TRUE(reader.has_value()) << (reader ? "" : reader.error().message);
  if (!reader) return content;
  EXPECT_TRUE(reader->damage().empty()) << reader->damage().front().what;
  for (const auto& chunk : reader->chunks()) {
    if (chunk.type != ChunkType::kPage) continue;
    const auto bytes = reader->read(chunk);
    EXPECT_TRUE(bytes.has_value());
    if (!bytes) continue;
    const bool fresh = content.pages
                           .emplace(std::tuple(chunk.lane, chunk.epoch, chunk.sequence),
                                    FileBytes(bytes->begin(), bytes->end()))
                           .second;
    EXPECT_TRUE(fresh) << "lane " << chunk.lane << " page " << chunk.sequence << " twice";
  }
  return content;
}

// Records that stand in the pages of a lane, by the pages' own numbers.
inline std::uint64_t records_of_lane(const RunContent& content, std::uint32_t lane) {
  std::uint64_t next = 0;
  for (const auto& [key, bytes] : content.pages) {
    if (std::get<0>(key) != lane) continue;
    PageHeaderImage header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    EXPECT_EQ(header.first_number, next) << "lane " << lane << " page " << header.sequence;
    next = header.first_number + header.record_count;
  }
  return next;
}

}  // namespace tidemark::storage
