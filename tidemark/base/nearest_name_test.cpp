// SPDX-License-Identifier: Apache-2.0
#include "tidemark/base/nearest_name.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

const std::vector<std::string> kWorkloads = {"vector_example", "paged_attention", "bgemm",
                                             "hang_kernel", "hang_wait"};

TEST(EditDistance, CountsInsertionsRemovalsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "sim"), 3u);
  EXPECT_EQ(edit_distance("sim", ""), 3u);
  EXPECT_EQ(edit_distance("sim", "slim"), 1u);
  EXPECT_EQ(edit_distance("slim", "sim"), 1u);
  EXPECT_EQ(edit_distance("sim", "sum"), 1u);
  EXPECT_EQ(edit_distance("bgemm", "bgmem"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
}

TEST(EditDistance, IsTheSameInBothDirections) {
  for (const auto& a : kWorkloads)
    for (const auto& b : kWorkloads) EXPECT_EQ(edit_distance(a, b), edit_distance(b, a));
}

TEST(EditDistance, TakesCapitalsAndDashesForTheSame) {
  EXPECT_EQ(edit_distance("Vector-Example", "vector_example"), 0u);
}

TEST(NearestName, FindsATypingError) {
  EXPECT_EQ(nearest_name("vectr_exmaple", kWorkloads), "vector_example");
  EXPECT_EQ(nearest_name("bgem", kWorkloads), "bgemm");
  EXPECT_EQ(nearest_name("hang_kernl", kWorkloads), "hang_kernel");
}

TEST(NearestName, FindsWhatBeginsLikeIt) {
  EXPECT_EQ(nearest_name("vector", kWorkloads), "vector_example");
  EXPECT_EQ(nearest_name("hang", kWorkloads), "hang_wait");  // of two, the shorter one
  EXPECT_EQ(nearest_name("ve", kWorkloads), "");
}

TEST(NearestName, IsEmptyWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("matmul", kWorkloads), "");
  EXPECT_EQ(nearest_name("", kWorkloads), "");
  EXPECT_EQ(nearest_name("bgemm", std::vector<std::string>{}), "");
}

TEST(NearestName, TakesAMemberAsTheName) {
  struct Platform {
    std::string_view name;
  };
  EXPECT_EQ(nearest_name("a5sm", std::vector<Platform>{{"sim"}, {"a5sim"}}, &Platform::name),
            "a5sim");
}

TEST(DidYouMean, EndsASentence) {
  EXPECT_EQ(did_you_mean("begmm", kWorkloads), "; did you mean 'bgemm'?");
  EXPECT_EQ(did_you_mean("matmul", kWorkloads), "");
}

}  // namespace
}  // namespace tidemark
