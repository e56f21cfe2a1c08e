// SPDX-License-Identifier: Apache-2.0
// A slip of the program is an answer: INVALID_ARGS with the kernel, the argument and the place of
// the submit. It is never an abort of whoever runs the program.
#include <functional>

#include <gtest/gtest.h>

#include "tests/small_workload.h"

namespace tidemark::small {
namespace {

constexpr Site kSlipSite{"program.cpp", 33};

// Takes whatever it is given; what it asks for, the test says.
struct Ask {
  static constexpr KernelInfo kInfo{.name = "ask",
                                    .core = CoreType::kAiv,
                                    .args = {inout("first"), inout("second"), scalar("n")}};
  static inline std::function<void(const TaskArgs&)> asks;
  template <class Block>
  static void run(Block&, const TaskArgs& args) {
    asks(args);
  }
};

// A tensor of 4 x 6 numbers, and what is done to it.
struct OneSlip : SmallWorkload {
  using Kernels = KernelList<Ask>;
  static inline std::function<TensorRef(const TensorRef&)> view;
  static inline bool made_by_task = false;
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<std::int64_t>({2, {4, 6}}, [](std::uint64_t i) { return static_cast<int>(i); });
  }
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    TensorRef tensor = entry.tensor(0);
    if (made_by_task) tensor = orch.allocate(Args().out({2, {4, 6}}, DType::kInt64)).output(0);
    orch.template submit<Ask>(
        Args().inout(entry.tensor(0)).inout(view(tensor)).scalar(std::uint64_t{5}), kSlipSite);
  }
};

class RuntimeSlips : public testing::Test {
 protected:
  RuntimeSlips() {
    Ask::asks = [](const TaskArgs&) {};
    OneSlip::view = [](const TensorRef& tensor) { return tensor; };
  }
  // The argument and the text of the refusal, for tensors of every origin and ways to build.
  void expect_refused(std::uint32_t arg, const std::string& text) {
    for (const BuildKind build :
         {BuildKind::kTensorMap, BuildKind::kExplicit, BuildKind::kHostBuild})
      for (const bool made_by_task : {false, true}) {
        OneSlip::made_by_task = made_by_task;
        WorkloadSetup setup = small_setup();
        setup.config.build = build;
        SimMachine<OneSlip> sim(setup);
        sim.run();
        const LatchedError& error = sim.status().error;
        EXPECT_EQ(to_text(sim.error()), "INVALID_ARGS") << text;
        EXPECT_EQ(error.arg.load_relaxed(), arg) << text;
        EXPECT_STREQ(error.kernel, "ask");
        EXPECT_STREQ(error.submit_file, kSlipSite.file);
        EXPECT_EQ(error.submit_line.load_relaxed(), kSlipSite.line);
        EXPECT_NE(std::string(error.text).find(text), std::string::npos) << error.text;
      }
  }
  void expect_view_refused(std::function<TensorRef(const TensorRef&)> view,
                           const std::string& text) {
    OneSlip::view = std::move(view);
    expect_refused(1, text);
  }
  void expect_kernel_refused(std::function<void(const TaskArgs&)> asks, std::uint32_t arg) {
    Ask::asks = std::move(asks);
    expect_refused(arg, "the kernel takes an argument that the task has not");
  }
};

TEST_F(RuntimeSlips, OfSlicesAndShapesAreRefused) {
  using R = const TensorRef&;
  expect_view_refused([](R t) { return t.slice(0, 0, 5); }, "a slice beyond the end");
  expect_view_refused([](R t) { return t.slice(1, 7, 0); }, "a slice beyond the end");
  expect_view_refused([](R t) { return t.slice(0, 1, ~0ull); }, "a slice beyond the end");
  expect_view_refused([](R t) { return t.slice(2, 0, 1); }, "a dimension that the tensor does not");
  expect_view_refused([](R t) { return t.transpose(0, 2); },
                      "a dimension that the tensor does not");
  expect_view_refused([](R t) { return t.slice(1, 1, 2).reshape({1, {8}}); }, "view with holes");
  expect_view_refused([](R t) { return t.reshape({1, {25}}); }, "another number of elements");
  expect_view_refused([](R t) { return t.reshape({6, {}}); }, "more than 5 dimensions");
  expect_view_refused(
      [](R t) {
        return t.reshape({2, {1ull << 40, 1ull << 40}});
      },
      "more than 5 dimensions");
  // What comes after a slip does not hide it.
  expect_view_refused([](R t) { return t.slice(0, 0, 5).slice(0, 0, 1).transpose(0, 1); },
                      "a slice beyond the end");
}

TEST_F(RuntimeSlips, OfViewsOfOnesOwnAreRefused) {
  const auto with = [](auto change) {
    return [change](const TensorRef& tensor) {
      TensorView view = tensor.view;
      change(view);
      return tensor.with(view);
    };
  };
  expect_view_refused(with([](TensorView& v) { v.shape.extent[0] *= 2; }), "end of its buffer");
  expect_view_refused(with([](TensorView& v) { v.offset = 1; }), "end of its buffer");
  expect_view_refused(with([](TensorView& v) { v.offset = ~0ull; }), "end of its buffer");
  expect_view_refused(with([](TensorView& v) { v.stride[0] = 1ull << 63; }), "end of its buffer");
  expect_view_refused(with([](TensorView& v) { v.stride[1] = 0; }), "a stride of 0");
  expect_view_refused(with([](TensorView& v) { v.shape.rank = 6; }), "more than 5 dimensions");
  expect_view_refused(with([](TensorView& v) { v.dtype = static_cast<DType>(200); }), "no dtype");
  expect_view_refused(
      [](const TensorRef&) {
        return TensorRef::external(TensorView::row_major(1ull << 40, DType::kInt64, {1, {4}}));
      },
      "end of its buffer");
  expect_view_refused(
      [](const TensorRef& tensor) {
        TensorView view = tensor.view;
        view.shape.rank = 77;
        return TensorRef::external(view);
      },
      "more than 5 dimensions");
}

TEST_F(RuntimeSlips, OfTheKernelItselfEndTheRun) {
  using A = const TaskArgs&;
  expect_kernel_refused([](A args) { args.tensor<float>(1); }, 1);
  expect_kernel_refused([](A args) { args.tensor<std::int64_t>(2); }, 2);
  expect_kernel_refused([](A args) { args.tensor<std::int64_t>(4'000'000'000u); }, 4'000'000'000u);
  expect_kernel_refused([](A args) { args.scalar<std::int64_t>(0); }, 2);
  expect_kernel_refused([](A args) { args.scalar<std::uint64_t>(1); }, 3);
  expect_kernel_refused([](A args) { args.word(7); }, 9);
  expect_kernel_refused([](A args) { args.view(5); }, 5);
}

// Whatever a kernel does with the tensor that it did not get, nobody is hurt.
TEST_F(RuntimeSlips, GiveATensorOfNoElements) {
  expect_kernel_refused(
      [](const TaskArgs& args) {
        const auto tensor = args.tensor<double>(1);
        EXPECT_EQ(tensor.size(), 0u);
        EXPECT_EQ(tensor.extent(0), 0u);
        EXPECT_FALSE(tensor.is_contiguous());
        tensor[12345] = 1;
        tensor(17, 99) = 2;
        *tensor.row(8) = 3;
        EXPECT_EQ(*args.tensor<std::uint8_t>(0).data(), 0);
        EXPECT_EQ(args.scalar<float>(0), 0);
      },
      1);
}

TEST_F(RuntimeSlips, NoneIsSeenInAViewThatIsRight) {
  OneSlip::view = [](const TensorRef& tensor) {
    TensorView view = tensor.view;
    view.shape.extent[0] = 2;
    view.stride[0] = 12;
    return tensor.with(view).slice(0, 0, 2).transpose(0, 1).slice(1, 2, 0);
  };
  Ask::asks = [](const TaskArgs& args) {
    EXPECT_EQ(args.tensor<std::int64_t>(1).extent(0), 6u);
    EXPECT_EQ(args.scalar<std::uint64_t>(0), 5u);
  };
  SimMachine<OneSlip> sim(small_setup());
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "NONE");
}

// after() adds to what was named before, singly or as a list.
struct ManyLists : SmallWorkload {
  using Kernels = KernelList<Nop>;
  static inline std::uint32_t lists = 0;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs&) {
    Scope root(orch);
    TaskHandle tasks[20];
    for (auto& task : tasks) task = orch.template submit<Nop>(Args());
    Args args;
    args.after(tasks[18]);
    for (std::uint32_t i = 0; i < lists; ++i) args.after(tasks + 2 * i, 2);
    args.after(tasks[19]).after(tasks, 0);
    orch.template submit<Nop>(args, kSlipSite);
  }
};

TEST_F(RuntimeSlips, ListsOfAfterAreAllKept) {
  for (const BuildKind build : {BuildKind::kTensorMap, BuildKind::kExplicit, BuildKind::kHostBuild})
    for (const std::uint32_t lists : {0u, 1u, 2u, 8u}) {
      ManyLists::lists = lists;
      WorkloadSetup setup = small_setup();
      setup.config.build = build;
      SimMachine<ManyLists> sim(setup);
      sim.run();
      EXPECT_EQ(to_text(sim.error()), "NONE");
      EXPECT_EQ(sim.watch().pairs().size(), 2 + 2 * lists);
      EXPECT_EQ(sim.watch().edges.size(), 2 + 2 * lists);
    }
  ManyLists::lists = 9;
  SimMachine<ManyLists> sim(small_setup());
  sim.run();
  EXPECT_EQ(to_text(sim.error()), "INVALID_ARGS");
  EXPECT_EQ(sim.status().error.submit_line.load_relaxed(), kSlipSite.line);
}

}  // namespace
}  // namespace tidemark::small
