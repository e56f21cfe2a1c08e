// SPDX-License-Identifier: Apache-2.0
// An Error says in one line what failed; its kind survives on the way up.
#include "tidemark/base/expected.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

Expected<int> refuse(int lanes) {
  return failure(ErrorKind::kUsage, "--pool-bytes {}: {} lanes need more", 4096, lanes);
}

TEST(Expected, CarriesTheKindAndTheFormattedMessage) {
  const auto refused = refuse(3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(refused.error().message, "--pool-bytes 4096: 3 lanes need more");
}

TEST(Expected, FileFailureNamesCallPathAndWhatTheSystemSaid) {
  errno = ENOENT;
  const Expected<void> failed = file_failure("open", "/no/such/file");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kFile);
  EXPECT_EQ(failed.error().message, "open /no/such/file: No such file or directory");
}

TEST(Expected, FileFailureReadsErrnoBeforeFormattingCanChangeIt) {
  errno = EACCES;
  const Expected<void> failed = file_failure("lock", std::string(4096, 'x'));
  EXPECT_NE(failed.error().message.find("Permission denied"), std::string::npos);
}

// Counts how far it came.
Expected<std::string> add(int lanes, int& steps) {
  TM_TRY(const int one, lanes > 0 ? Expected<int>(lanes) : refuse(lanes));
  ++steps;
  int two = 0;
  TM_TRY(two, lanes > 1 ? Expected<int>(lanes + 1) : refuse(lanes));
  ++steps;
  TM_TRY_DO(lanes > 2 ? Expected<void>() : Expected<void>(failure(ErrorKind::kFile, "full")));
  ++steps;
  TM_TRY(auto text, Expected<std::unique_ptr<std::string>>(
                        std::make_unique<std::string>(fmt::format("{} {}", one, two))));
  return *text;
}

TEST(Try, GivesTheValueOrLeavesWithTheErrorAtOnce) {
  int steps = 0;
  EXPECT_EQ(add(3, steps).value(), "3 4");
  EXPECT_EQ(steps, 3);
  for (int lanes = 0; lanes < 3; ++lanes) {
    steps = 0;
    const auto refused = add(lanes, steps);
    ASSERT_FALSE(refused);
    EXPECT_EQ(steps, lanes);
    EXPECT_EQ(refused.error().kind, lanes < 2 ? ErrorKind::kUsage : ErrorKind::kFile);
  }
}

TEST(Expected, AValueIsNotAnError) {
  const Expected<int> value = 42;
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 42);
}

}  // namespace
}  // namespace tidemark
