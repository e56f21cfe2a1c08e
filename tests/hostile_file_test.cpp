// SPDX-License-Identifier: Apache-2.0
// The readers of small files over seeded inputs of file_fuzz: arrays, the report of a run, the
// state of a hung one.
#include <map>

#include <gtest/gtest.h>

#include "fuzz/byte_source.h"
#include "fuzz/file_input.h"
#include "tidemark/base/testing/seed_range.h"

namespace tidemark::fuzz {
namespace {

std::map<std::string, std::vector<unsigned char>> corpus() {
  std::map<std::string, std::vector<unsigned char>> files;
  for (const auto& file :
       std::filesystem::directory_iterator(TIDEMARK_SOURCE_DIR "/fuzz/corpus/file_fuzz"))
    files[file.path().filename().string()] = samples::read_bytes(file.path().string());
  return files;
}

std::string text_of(const std::vector<unsigned char>& bytes) {
  return {bytes.begin(), bytes.end()};
}

TEST(HostileFile, TheSeedsOfTheFuzzerAreTakenForWhatTheyAre) {
  auto files = corpus();
  for (const char* array : {"array_float32", "array_of_no_dimension", "array_empty"})
    EXPECT_TRUE(run_array_input(text_of(files.at(array)))) << array;
  for (const char* impossible : {"array_too_large", "array_huge_number"})
    EXPECT_FALSE(run_array_input(text_of(files.at(impossible)))) << impossible;
  EXPECT_TRUE(run_hang_input(text_of(files.at("hang_state"))));
  const auto report = parse_run_report(text_of(files.at("run_report")), "run.json");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->workload, "hang_kernel");
  EXPECT_EQ(report->exit_code, 3);
}

TEST(HostileFile, NoChangeOfAFileBreaksItsReader) {
  std::uint64_t taken = 0, inputs = 0;
  const SeedRange seeds = seed_range(2000, 500);
  for (const auto& [name, bytes] : corpus())
    for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed, ++inputs) {
      SeededBits bits(seed);
      auto changed = bytes;
      for (std::uint64_t times = 1 + bits.below(3); times > 0; --times) {
        const std::size_t at = bits.below(changed.size());
        if (bits.below(8) == 0) changed.resize(at + 1);
        changed[at] = static_cast<unsigned char>(
            bits.below(2) == 0 ? '0' + static_cast<int>(bits.below(10)) : bits.next());
      }
      taken += run_file_input(changed) > 0;
    }
  EXPECT_GT(taken, inputs / 20) << "hardly a change is read";
}

}  // namespace
}  // namespace tidemark::fuzz
