// SPDX-License-Identifier: Apache-2.0
// Kernels by number: every type has its own, and running a number runs that kernel and no other.
#include "tidemark/runtime/kernel_list.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

struct Calls {
  int of[3] = {};
};

template <int kNumber>
struct Kernel {
  static constexpr KernelInfo kInfo{.name = kNumber == 0   ? "zero"
                                            : kNumber == 1 ? "one"
                                                           : "two",
                                    .core = kNumber == 1 ? CoreType::kAic : CoreType::kAiv,
                                    .args = {in("a"), scalar("s")}};
  static void run(Calls& calls, const TaskArgs& args) {
    calls.of[kNumber] += 1 + static_cast<int>(args.block);
  }
};
using Three = KernelList<Kernel<0>, Kernel<1>, Kernel<2>>;

TEST(KernelList, NumbersItsKernelsInTheirOrder) {
  EXPECT_EQ(Three::kCount, 3u);
  EXPECT_EQ(Three::number_of<Kernel<0>>(), 0u);
  EXPECT_EQ(Three::number_of<Kernel<1>>(), 1u);
  EXPECT_EQ(Three::number_of<Kernel<2>>(), 2u);
}

TEST(KernelList, KnowsWhatEachKernelDeclares) {
  EXPECT_STREQ(Three::info(0).name, "zero");
  EXPECT_STREQ(Three::info(2).name, "two");
  EXPECT_EQ(Three::info(1).core, CoreType::kAic);
  EXPECT_EQ(Three::info(1).args.count, 2u);
  EXPECT_EQ(Three::info(1).args.tensor_count, 1u);
  EXPECT_STREQ(Three::info(3).name, "") << "there is no such kernel";
}

TEST(KernelList, RunsTheKernelOfTheNumberAndNoOther) {
  TaskArgs args(nullptr, nullptr, 0, nullptr, 0);
  args.block = 6;
  for (std::uint16_t number = 0; number < 5; ++number) {
    Calls calls;
    Three::run(number, calls, args);
    for (std::uint16_t other = 0; other < 3; ++other)
      EXPECT_EQ(calls.of[other], other == number ? 7 : 0);
  }
}

TEST(KernelList, AnEmptyListRunsNothing) {
  Calls calls;
  KernelList<>::run(0, calls, TaskArgs(nullptr, nullptr, 0, nullptr, 0));
  EXPECT_EQ(KernelList<>::kCount, 0u);
}

}  // namespace
}  // namespace tidemark
