// SPDX-License-Identifier: Apache-2.0
// TM_CHECK: silent where the condition holds, the end of the process with a reason where it does
// not.
#include "tidemark/base/check.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Check, EvaluatesATrueConditionOnceAndGoesOn) {
  int evaluated = 0;
  TM_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, AbortsNamingConditionAndFile) {
  const int index = 7;
  EXPECT_EXIT(TM_CHECK(index < 4), testing::KilledBySignal(SIGABRT),
              "CHECK failed: index < 4 at .*check_test.cpp:[0-9]+");
}

TEST(CheckDeathTest, TakesAConditionThatIsOnlyContextuallyBool) {
  const int* nothing = nullptr;
  EXPECT_EXIT(TM_CHECK(nothing), testing::KilledBySignal(SIGABRT), "CHECK failed: nothing");
}

}  // namespace
}  // namespace tidemark
