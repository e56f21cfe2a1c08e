// SPDX-License-Identifier: Apache-2.0
// Arguments against a declaration: each kind of mismatch is found and names its argument. Sizes of
// outputs never overflow.
#include "tidemark/runtime/graph/submit_check.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

struct Declared {
  static constexpr KernelInfo kInfo{
      .name = "kernel",
      .core = CoreType::kAiv,
      .args = {in("a", DType::kFloat32), inout("b"), out("c", DType::kInt8),
               scalar("s", DType::kInt32), scalar("t")}};
};

TensorRef tensor(DType dtype) {
  return TensorRef::external(TensorView::row_major(0, dtype, {1, {4}}));
}
Args good() {
  return Args()
      .in(tensor(DType::kFloat32))
      .inout(tensor(DType::kUint16))
      .out({1, {4}}, DType::kInt8)
      .scalar(std::int32_t{1})
      .scalar(2.0);
}
std::string problem_of(Args args, std::uint32_t arg) {
  const ArgProblem problem = check_declared<Declared>(args.given());
  EXPECT_EQ(problem.arg, arg);
  return problem.text == nullptr ? "" : problem.text;
}
constexpr std::uint32_t kNone = kNoArg;

TEST(SubmitCheck, TakesWhatIsDeclared) {
  EXPECT_EQ(problem_of(good(), kNone), "");
  // no_dep stands for an input, output_existing for an output.
  EXPECT_EQ(problem_of(Args()
                           .no_dep(tensor(DType::kFloat32))
                           .inout(tensor(DType::kBool))
                           .out_existing(tensor(DType::kInt8))
                           .scalar(std::int32_t{1})
                           .scalar(false),
                       kNone),
            "");
}

TEST(SubmitCheck, MarksForTheDumpAreNamesNumbersOrTensors) {
  const auto marks = [](Args args) {
    const ArgProblem problem = resolve_dump_names(Declared::kInfo, args.given());
    EXPECT_EQ(problem.text, nullptr);
    return args.given().dump_marks();
  };
  EXPECT_EQ(marks(good()), 0u);
  EXPECT_EQ(marks(good().dump()), ~std::uint64_t{0});
  EXPECT_EQ(marks(good().dump("b", "t")), 0b10010u);
  EXPECT_EQ(marks(good().dump(0, 3u)), 0b01001u);
  // A tensor is its view: another slice of the same buffer is another tensor.
  const TensorRef whole = TensorRef::external(TensorView::row_major(9, DType::kFloat32, {1, {8}}));
  const TensorRef left = whole.slice(0, 0, 4), right = whole.slice(0, 4, 4);
  const Args slices = Args().in(left).inout(right).out({1, {4}}, DType::kInt8);
  EXPECT_EQ(marks(Args(slices).dump(left)), 0b01u);
  EXPECT_EQ(marks(Args(slices).dump(right)), 0b10u);
  const auto refused = [](Args args) {
    return resolve_dump_names(Declared::kInfo, args.given()).text;
  };
  for (const char* text :
       {refused(Args(slices).dump(whole)), refused(good().dump(5)), refused(good().dump(-1))})
    EXPECT_STREQ(text, "dump(): the task has no such argument");
  EXPECT_STREQ(refused(good().dump("nobody")),
               "dump(): the kernel declares no argument of this name");
}

TEST(SubmitCheck, CountsTensorsAndScalars) {
  EXPECT_EQ(problem_of(Args().in(tensor(DType::kFloat32)), kNone), "too few tensors");
  EXPECT_EQ(problem_of(Args(), kNone), "too few tensors");
  Args four;
  for (int i = 0; i < 4; ++i) four.in(tensor(DType::kFloat32));
  EXPECT_EQ(problem_of(four, kNone), "too many tensors");
  const Args three =
      Args().in(tensor(DType::kFloat32)).inout(tensor(DType::kUint16)).out({1, {4}}, DType::kInt8);
  EXPECT_EQ(problem_of(Args(three).scalar(std::int32_t{1}), kNone), "too few scalars");
  EXPECT_EQ(problem_of(good().scalar(1.0f), kNone), "too many scalars");
}

TEST(SubmitCheck, NamesTheTensorWithAnotherAccess) {
  const auto with = [](Access a, Access b, Access c) {
    Args args;
    const DType dtypes[] = {DType::kFloat32, DType::kUint16, DType::kInt8};
    const Access accesses[] = {a, b, c};
    for (int i = 0; i < 3; ++i) {
      if (accesses[i] == Access::kInput) args.in(tensor(dtypes[i]));
      if (accesses[i] == Access::kInout) args.inout(tensor(dtypes[i]));
      if (accesses[i] == Access::kOutput) args.out({1, {4}}, dtypes[i]);
      if (accesses[i] == Access::kOutputExisting) args.out_existing(tensor(dtypes[i]));
      if (accesses[i] == Access::kNoDep) args.no_dep(tensor(dtypes[i]));
    }
    return args.scalar(std::int32_t{1}).scalar(2.0);
  };
  const std::string text = "the kernel declares this argument with another access";
  constexpr Access kAll[] = {Access::kInput, Access::kOutput, Access::kOutputExisting,
                             Access::kInout, Access::kNoDep};
  for (const Access a : kAll)
    for (const Access b : kAll)
      for (const Access c : kAll) {
        std::uint32_t wrong = kNone;
        if (!role_takes(ArgRole::kOut, c)) wrong = 2;
        if (!role_takes(ArgRole::kInout, b)) wrong = 1;
        if (!role_takes(ArgRole::kIn, a)) wrong = 0;
        EXPECT_EQ(problem_of(with(a, b, c), wrong), wrong == kNone ? "" : text);
      }
}

TEST(SubmitCheck, NamesTheArgumentWithAnotherDtype) {
  const std::string tensor_text = "the kernel declares this argument with another dtype";
  EXPECT_EQ(problem_of(Args()
                           .in(tensor(DType::kFloat64))
                           .inout(tensor(DType::kUint16))
                           .out({1, {4}}, DType::kInt8)
                           .scalar(std::int32_t{1})
                           .scalar(2.0),
                       0),
            tensor_text);
  EXPECT_EQ(problem_of(Args()
                           .in(tensor(DType::kFloat32))
                           .inout(tensor(DType::kUint16))
                           .out({1, {4}}, DType::kUint8)
                           .scalar(std::int32_t{1})
                           .scalar(2.0),
                       2),
            tensor_text);
  EXPECT_EQ(problem_of(Args()
                           .in(tensor(DType::kFloat32))
                           .inout(tensor(DType::kUint16))
                           .out({1, {4}}, DType::kInt8)
                           .scalar(std::uint32_t{1})
                           .scalar(2.0),
                       3),
            "the kernel declares this scalar with another dtype");
}

TEST(SubmitCheck, RemembersWhatDoesNotFit) {
  Args args;
  for (std::uint32_t i = 0; i < kTensorsMax; ++i) args.in(tensor(DType::kInt8));
  EXPECT_FALSE(args.given().too_many());
  EXPECT_TRUE(Args(args).in(tensor(DType::kInt8)).given().too_many());
  for (std::uint32_t i = 0; i < kScalarsMax; ++i) args.scalar(1.0f);
  EXPECT_FALSE(args.given().too_many());
  EXPECT_TRUE(Args(args).scalar(1.0f).given().too_many());
  for (std::uint32_t i = 0; i < kAftersMax; ++i) args.after(TaskHandle{});
  EXPECT_FALSE(args.given().too_many());
  EXPECT_TRUE(Args(args).after(TaskHandle{}).given().too_many());
  EXPECT_FALSE(args.given().tensor_behind_scalar());
  EXPECT_TRUE(Args().scalar(1.0f).in(tensor(DType::kInt8)).given().tensor_behind_scalar());
}

TEST(SubmitCheck, KnowsShapesOfWhichNoSizeCanBeComputed) {
  EXPECT_TRUE(shape_is_sane({0, {}}));
  EXPECT_TRUE(shape_is_sane({5, {1, 2, 3, 4, 5}}));
  EXPECT_TRUE(shape_is_sane({1, {std::uint64_t{1} << 59}}));
  EXPECT_TRUE(shape_is_sane({2, {0, ~std::uint64_t{0}}}));
  EXPECT_FALSE(shape_is_sane({6, {}}));
  EXPECT_FALSE(shape_is_sane({~0u, {}}));
  EXPECT_FALSE(shape_is_sane({1, {(std::uint64_t{1} << 59) + 1}}));
  EXPECT_FALSE(shape_is_sane({1, {~std::uint64_t{0}}}));
  EXPECT_FALSE(shape_is_sane({2, {std::uint64_t{1} << 32, std::uint64_t{1} << 32}}));
  // The product wraps to something small.
  EXPECT_FALSE(shape_is_sane({3, {std::uint64_t{1} << 40, std::uint64_t{1} << 40, 2}}));
}

TEST(SubmitCheck, WhatIsSaneAtAGlanceIsSane) {
  const std::uint64_t extents[] = {0, 1, 7, 1u << 28, 1u << 29, 1ull << 30, 1ull << 58, ~0ull};
  std::uint32_t sure = 0;
  for (const std::uint64_t one : extents)
    for (const std::uint64_t other : extents)
      for (const std::uint64_t third : extents) {
        const TensorShape shape{3, {one, other, third}};
        if (!shape_is_surely_sane(shape)) continue;
        ++sure;
        EXPECT_TRUE(shape_is_sane(shape)) << one << " x " << other << " x " << third;
      }
  EXPECT_GE(sure, 4u * 4 * 2);
  EXPECT_TRUE(shape_is_surely_sane({0, {}}));
  EXPECT_TRUE(shape_is_surely_sane({5, {2, 3, 4, 5, 6}}));
  EXPECT_FALSE(shape_is_surely_sane({6, {}}));
}

TEST(SubmitCheck, SizesOfOutputsAreAlignedAndSaturate) {
  const auto bytes_of = [](const TensorShape& shape, DType dtype) {
    return shape.element_count() * dtype_bytes(dtype);
  };
  EXPECT_EQ(add_output_bytes(0, bytes_of({1, {1}}, DType::kInt8)), 1024u);
  EXPECT_EQ(add_output_bytes(0, bytes_of({1, {1024}}, DType::kInt8)), 1024u);
  EXPECT_EQ(add_output_bytes(0, bytes_of({1, {1025}}, DType::kInt8)), 2048u);
  EXPECT_EQ(add_output_bytes(1024, bytes_of({2, {3, 1u << 30}}, DType::kInt8)),
            (3ull << 30) + 1024);
  EXPECT_EQ(add_output_bytes(2048, bytes_of({2, {0, 7}}, DType::kFloat64)), 3072u)
      << "also nothing has a place";
  constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 63;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t before = bytes;
    bytes = add_output_bytes(bytes, bytes_of({1, {std::uint64_t{1} << 59}}, DType::kInt64));
    EXPECT_GE(bytes, before);
    EXPECT_LE(bytes, kTooLarge);
  }
  EXPECT_EQ(bytes, kTooLarge);
}

}  // namespace
}  // namespace tidemark
