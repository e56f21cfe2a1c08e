// SPDX-License-Identifier: Apache-2.0
// What --tolerance says, and what it refuses.
#include "tidemark/analyze/diff_tolerance.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

DiffTolerances tolerances(const std::string& text, const DiffTolerances& before = {}) {
  DiffTolerances result = before;
  const auto added = add_tolerances(text, result);
  EXPECT_TRUE(added) << added.error().message;
  return result;
}
std::string refused(const std::string& text, DiffTolerances before = {}) {
  const auto added = add_tolerances(text, before);
  EXPECT_FALSE(added) << text;
  if (added) return {};
  EXPECT_EQ(added.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(added.error().message.find("--tolerance " + text + ": "), 0u) << added.error().message;
  return added.error().message.substr(text.size() + 14);
}
void expect_tolerance(const DiffTolerance& given, double number, std::uint64_t ulps) {
  EXPECT_EQ(given.atol, number);
  EXPECT_EQ(given.rtol, number);
  EXPECT_EQ(given.ulps, ulps);
}

TEST(DiffTolerance, IsANumberOrValuesOfEachDtype) {
  const auto given = tolerances("float32=1e-3,bfloat16=2ulp,int8=1");
  expect_tolerance(given.of_tensors(DType::kFloat32), 1e-3, 0);
  expect_tolerance(given.of_tensors(DType::kBfloat16), 0, 2);
  expect_tolerance(given.of_tensors(DType::kInt8), 1, 0);
  expect_tolerance(given.of_tensors(DType::kFloat16), 0, 0);
  expect_tolerance(given.others, 0, 0);
}

TEST(DiffTolerance, WithoutADtypeIsForAllOthers) {
  for (const char* text : {"0.25,float64=0ulp", "float64=0ulp,0.25"}) {
    const auto given = tolerances(text);
    expect_tolerance(given.of_tensors(DType::kFloat32), 0.25, 0);
    expect_tolerance(given.of_tensors(DType::kFloat64), 0, 0);
    expect_tolerance(given.others, 0.25, 0);
  }
  expect_tolerance(tolerances("3ulp").of_tensors(DType::kInt64), 0, 3);
}

TEST(DiffTolerance, LeavesAtolAndRtolToTheOthers) {
  DiffTolerances before;
  before.others = {.rtol = 0.5, .atol = 2};
  const auto given = tolerances("float32=1ulp", before);
  EXPECT_EQ(given.of_tensors(DType::kInt8).atol, 2);
  EXPECT_EQ(given.of_tensors(DType::kInt8).rtol, 0.5);
  expect_tolerance(given.of_tensors(DType::kFloat32), 0, 1);
  EXPECT_EQ(refused("1e-3", before),
            "--atol and --rtol say already how far all other dtypes may be apart");
}

TEST(DiffTolerance, NamesWhatItRefuses) {
  const std::string all =
      "there are float32, float16, bfloat16, float64, int8, int16, int32, int64, uint8, uint16, "
      "uint32, uint64, bool";
  EXPECT_EQ(refused("bfloat61=1ulp"), "no dtype 'bfloat61'; " + all + "; did you mean 'bfloat16'?");
  EXPECT_EQ(refused("float32=1,float=1"), "no dtype 'float'; " + all + "; did you mean 'float32'?");
  EXPECT_EQ(refused("bf16=1ulp"), "no dtype 'bf16'; " + all + "; did you mean 'bfloat16'?");
  EXPECT_EQ(refused("complex=1"), "no dtype 'complex'; " + all);
  EXPECT_EQ(refused("=1"), "no dtype ''; " + all);
  for (const char* value : {"", "much", "1e-3x", "-1", "nan", "inf", "-1ulp", "ulp", "1.5ulp",
                            "1 ulp", "1ulps", "99999999999999999999ulp", " 1", "+1"})
    EXPECT_EQ(refused(std::string("float32=") + value),
              "'" + std::string(value) +
                  "' is neither a number from 0, absolute and relative (1e-3), nor a whole number "
                  "of values of the dtype (1ulp)");
  EXPECT_EQ(refused("float32=1,").substr(0, 12), "'' is neithe");
  EXPECT_EQ(refused("float32=1,float32=2"), "two tolerances for float32");
  EXPECT_EQ(refused("1,2ulp"), "two tolerances for all other dtypes");
}

}  // namespace
}  // namespace tidemark
