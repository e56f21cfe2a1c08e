// SPDX-License-Identifier: Apache-2.0
// An Error says in one line what failed; its kind survives on the way up.
#include "tidemark/base/expected.h"

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

TEST(Expected, AValueIsNotAnError) {
  const Expected<int> value = 42;
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 42);
}

}  // namespace
}  // namespace tidemark
