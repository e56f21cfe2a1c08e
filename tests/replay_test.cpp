// SPDX-License-Identifier: Apache-2.0
// Replay of what other tests do not have: 16-bit floats, a kernel that gives something else every
// time, and kernels that did not come to their end in the run.
#include "tests/dump_fixture.h"
#include "tidemark/cli/command_line.h"

namespace tidemark {
namespace {

// Its output is how often it was called: no replay can give the same.
struct Numbered {
  static constexpr KernelInfo kInfo{
      .name = "numbered", .core = CoreType::kAiv, .args = {in("a"), out("c", DType::kInt32)}};
  template <class Block>
  static void run(Block& block, const TaskArgs& args) {
    static std::atomic<std::int32_t> calls{0};
    const auto c = args.tensor<std::int32_t>(1);
    if (block.thread() == 0) c[0] = 7, c[1] = ++calls;
  }
};

struct NumberedOnce {
  static constexpr const char* kName = "numbered_once";
  static constexpr const char* kDescription = "";
  using Kernels = KernelList<Numbered>;
  template <class Orch>
  static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    orch.template submit<Numbered>(Args().in(entry.tensor(0)).out({1, {2}}, DType::kInt32));
  }
  static std::vector<WorkloadCase> cases() { return {{"default", ""}}; }
  static void prepare(const WorkloadSetup&, EntryData& data) {
    data.add<float>({1, {4}}, [](std::uint64_t i) { return static_cast<float>(i); });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData&) { return {}; }
};

class Replay : public DumpFixture {
 protected:
  static void expect_in(const std::string& text, const std::string& what) {
    EXPECT_NE(text.find(what), std::string::npos) << what << " is not in\n" << text;
  }
};

TEST_F(Replay, ReproducesEveryKernelOfAProgramInBfloat16) {
  run_ok("run paged_attention --case Small1 --dump-tensor --output-prefix r");
  for (const auto& [task, kernel] : std::map<std::string, std::string>{
           {"r2t0", "qk"}, {"r2t1", "sf"}, {"r2t2", "pv"}, {"r2t3", "up"}}) {
    run_ok("replay r --task " + task);
    EXPECT_TRUE(text_.starts_with(task + " " + kernel + " again, on what it read\n")) << text_;
    expect_in(text_, "\nreproduced\n");
  }
  run_ok("replay r --task r2t1");
  expect_in(text_, "argument 1: 256 elements, the same bytes\n");
  expect_in(text_, "argument 2: 16 elements, the same bytes\n");
}

TEST_F(Replay, OfAnotherResultSaysWhatDiffersAndWhere) {
  EXPECT_EQ(run_here<NumberedOnce>({}).exit_code, 0);
  std::string words[] = {"tidemark", "replay", path("r"), "--task", "t0"};
  char* arguments[5];
  for (int i = 0; i < 5; ++i) arguments[i] = words[i].data();
  testing::internal::CaptureStdout();
  const int exit_code = cli::run_arguments(5, arguments);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(exit_code, 1);
  EXPECT_EQ(text,
            "t0 numbered again, on what it read\n"
            "  argument 1: 1 elements differ, first [1]: captured 1, replayed 2\n"
            "NOT reproduced\n");
}

// The task that was stopped is what one wants to run again. It ends only a process of its own.
TEST_F(Replay, OfAKernelThatNeverReturnsIsEndedAfterItsTime) {
  const Finished hung =
      run("run hang_kernel --dump-tensor --scheduler-timeout-ms 200 --output-prefix r");
  ASSERT_EQ(hung.exit_code, 3) << hung.error;
  const Finished again = run("replay r --task t12 --timeout-ms 300", "timeout 40");
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_EQ(again.out, "t12 copy_or_hang again, on what it read\n");
  EXPECT_EQ(again.error, "tidemark: the kernel did not return within 300 ms (--timeout-ms)\n");
  run_ok("replay r --task t11 --timeout-ms 0");
  expect_in(text_, "\nreproduced\n");
  expect_refused("replay r --task r1t0", 2, "nothing of it was dumped");
}

TEST_F(Replay, OfAKernelThatCrashedSaysThatItCrashesAgain) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const char* const crash = "the kernel";  // a sanitizer has an end of its own
#else
  const char* const crash = "tidemark: the kernel crashed again: signal 11\n";
#endif
  ASSERT_EQ(run("run crash_kernel --dump-tensor --output-prefix r").exit_code, 3);
  const Finished again = run("replay r --task t12");
  EXPECT_NE(again.exit_code, 0);
  expect_in(again.error, crash);
}

}  // namespace
}  // namespace tidemark
