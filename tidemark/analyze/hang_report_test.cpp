// SPDX-License-Identifier: Apache-2.0
// The autopsy of states made by hand: who is stuck, what it waits for, who waits for it, and the
// lines a person reads.
#include "tidemark/analyze/hang_report.h"

#include <gtest/gtest.h>

#include "tidemark/analyze/testing/hand_capture.h"
#include "tidemark/schema/unit_state.h"

namespace tidemark {
namespace {

using samples::kLaunchTicks;

constexpr std::uint64_t kRing1 = std::uint64_t{1} << 32;

// Core 1 of three has been in a kernel of t12 for 11 s; r1t0 waits for it, r1t1 for that one.
HangState stalled() {
  HangState state;
  state.hang = HangClass::kRunningStalled;
  state.code = 100;
  state.name = "SCHEDULER_TIMEOUT";
  state.message = "a message";
  state.has_unit = true;
  state.units = {.schedulers = 1, .cores = 3};
  state.unit = state.units.core(1);
  state.ticks_per_second = 1'000'000'000;
  state.launch_ticks = kLaunchTicks;
  state.detected_ticks = kLaunchTicks + 12'000'000'000;
  state.kernels = {"copy", "add"};
  state.lines.resize(state.units.total());
  for (auto& line : state.lines) {
    line = {};
    line.state = UnitState::kIdle;
    line.since_ticks = kLaunchTicks;
  }
  UnitImage& busy = state.lines[state.units.core(1)];
  busy.state = UnitState::kBusy;
  busy.task_id = 12;
  busy.since_ticks = kLaunchTicks + 1'000'000'000;
  busy.count = 3;
  state.lines[state.units.scheduler(0)].loops = 77;
  state.lines[state.units.scheduler(0)].count = 12;
  state.submitted = 15;
  state.completed = 12;
  state.orchestration_done = true;
  state.tasks = {
      {.id = 12, .kernels = {0, kNoKernel, kNoKernel}, .site = "a.h:59", .waiters = {kRing1}},
      {.id = kRing1,
       .kernels = {1, kNoKernel, kNoKernel},
       .site = "a.h:64",
       .pending = 1,
       .waiters = {kRing1 + 1}},
      {.id = kRing1 + 1, .kernels = {1, kNoKernel, kNoKernel}, .pending = 1}};
  state.rings[0] = {.head = 13,
                    .tail = 5,
                    .window = 64,
                    .heap_used = 300,
                    .heap_bytes = 4096,
                    .deps_used = 7,
                    .fanin_used = 0,
                    .dep_pool = 100};
  return state;
}

TEST(HangReport, NamesTheStuckTaskAndWhoWaitsForIt) {
  const HangReport report = make_hang_report(stalled(), nullptr);
  EXPECT_EQ(report.hang_class, "running stalled");
  ASSERT_EQ(report.stuck.size(), 1u);
  const StuckReport& stuck = report.stuck[0];
  EXPECT_EQ(stuck.task_id, 12u);
  EXPECT_EQ(stuck.kernel, "copy");
  EXPECT_EQ(stuck.core, 1u);
  EXPECT_EQ(stuck.since_ns, 1'000'000'000u);
  EXPECT_EQ(stuck.for_ns, 11'000'000'000u);
  EXPECT_EQ(stuck.site, "a.h:59");
  EXPECT_EQ(stuck.waits_for, std::vector<std::string>{"core 1 to return from its kernel"});
  EXPECT_EQ(stuck.waiters, (std::vector<std::uint64_t>{kRing1, kRing1 + 1})) << "also indirectly";
  EXPECT_EQ(report.chain, (std::vector<std::string>{"t12 copy", "r1t0 add", "r1t1 add",
                                                    "orchestrator waits for the last task"}));
  EXPECT_TRUE(report.last_spans.empty()) << "there is no capture";
}

TEST(HangReport, IsReadInTenLinesWorstFirst) {
  const std::string text = hang_summary(make_hang_report(stalled(), nullptr), "run");
  std::vector<std::string> lines;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(text.substr(at, end - at));
  ASSERT_EQ(lines.size(), 9u) << text;
  EXPECT_EQ(lines[0], "100 SCHEDULER_TIMEOUT: running stalled, after 12.0 s");
  EXPECT_TRUE(lines[1].starts_with("what       core 1 has been in kernel `copy` of task t12 "));
  EXPECT_EQ(lines[2],
            "stuck      t12 copy on core 1, submitted at a.h:59, waits for core 1 to return from "
            "its kernel; 2 wait for it: r1t0, r1t1");
  EXPECT_EQ(lines[3],
            "chain      t12 copy <- r1t0 add <- r1t1 add <- orchestrator waits for the last task");
  EXPECT_EQ(lines[4], "cores      1 busy, 2 idle: core 1 copy t12 11.0 s");
  EXPECT_EQ(lines[5], "schedulers 0 77 rounds, 12 complete; 0 ready, 12 of 15 tasks complete");
  EXPECT_EQ(lines[6], "rings      ring 0: 8/64 tasks, 300/4096 heap, 7/100 dependencies");
  EXPECT_TRUE(lines[7].starts_with("recorder   0 lanes waited")) << lines[7];
  EXPECT_TRUE(lines[8].starts_with("next       tidemark dump run --task t12;")) << lines[8];
}

// As stalled(), with what the core dump of a GPU says: core 1 stood in its kernel, called by the
// runtime, and two of its threads elsewhere.
HangState stalled_with_stacks() {
  HangState state = stalled();
  state.lines[state.units.core(1)].place = 18;
  state.core = {.file = "device.core", .bytes = 3 << 20};
  state.stacks = {
      {.unit = 0, .sm = 2, .threads = 1, .frames = {{"spin", "/src/b.h", 7}}},
      {.unit = state.units.core(1),
       .sm = 17,
       .first_thread = 32,
       .threads = 224,
       .frames = {{"wait_ns", "/src/tidemark/device/cuda/cuda_block.cuh", 99},
                  {"Copy::run", "/src/work/copy.h", 24},
                  {"run_core", "/src/tidemark/device/cuda/cuda_units.cuh", 88},
                  {"run_cuda_units", "", 0}}},
      {.unit = state.units.core(1), .sm = 17, .threads = 1, .frames = {{"Copy::run", "c.h", 20}}}};
  return state;
}

TEST(HangReport, TheSentenceNamesTheLineOfTheUser) {
  const HangReport report = make_hang_report(stalled_with_stacks(), nullptr);
  EXPECT_EQ(report.sentence,
            "core 1 on SM 17 has been in kernel `copy` of task t12 (a.h:59) for 11.0 s, at "
            "copy.h:24; 2 tasks wait for it");
}

TEST(HangReport, WhereAllIsOfTheRuntimeTheInnermostLineIsNamed) {
  HangState state = stalled_with_stacks();
  std::erase_if(state.stacks[1].frames, [](const StackFrame& frame) { return frame.line == 24; });
  EXPECT_NE(hang_sentence(state).find(", at cuda_block.cuh:99;"), std::string::npos)
      << hang_sentence(state);
}

TEST(HangReport, AnExceptionIsTheWorst) {
  HangState state = stalled_with_stacks();
  state.hang = HangClass::kNone;
  state.stacks[2].exception = "Warp Illegal Address";
  EXPECT_EQ(hang_sentence(state),
            "core 1 on SM 17 was in kernel `copy` of task t12 (a.h:59), at c.h:20 (Warp Illegal "
            "Address); 2 tasks wait for it");
}

TEST(HangReport, OtherUnitsAreNamedWithTheirLine) {
  HangState state = stalled_with_stacks();
  state.hang = HangClass::kOrchestratorStalled;
  state.unit = 0;
  EXPECT_NE(hang_sentence(state).find("submitted task t0, at b.h:7; 12 of 15"), std::string::npos)
      << hang_sentence(state);
  state.hang = HangClass::kReadyAllIdle;
  state.unit = state.stacks[0].unit = state.units.scheduler(0);
  EXPECT_NE(hang_sentence(state).find(", at b.h:7: 1 task is ready"), std::string::npos)
      << hang_sentence(state);
  state.hang = HangClass::kRecorderStalled;
  EXPECT_NE(hang_sentence(state).find("scheduler 0 stays behind, at b.h:7: "), std::string::npos)
      << hang_sentence(state);
}

TEST(HangReport, StacksAndTheCoreDumpAreInTheText) {
  const std::string text = hang_summary(make_hang_report(stalled_with_stacks(), nullptr), "a run");
  EXPECT_NE(text.find("stacks     core 1 on SM 17, threads 32 to 255: wait_ns (cuda_block.cuh:99) "
                      "in Copy::run (copy.h:24) in run_core (cuda_units.cuh:88) in "
                      "run_cuda_units\n           core 1 on SM 17, thread 0: Copy::run (c.h:20)\n"
                      "           orchestrator on SM 2, thread 0: spin (b.h:7)\n"
                      "core dump  device.core, 3.0 MiB; cuda-gdb -ex 'target cudacore a "
                      "run/device.core' -ex 'info cuda threads' -ex bt\n"),
            std::string::npos)
      << text;
}

TEST(HangReport, WhyTheCoreDumpWasNotReadIsSaid) {
  HangState state = stalled();
  state.core = {
      .file = "device.core", .bytes = 2048, .why_unread = "cuda-gdb is not on this machine"};
  EXPECT_NE(hang_summary(make_hang_report(state, nullptr), "it's")
                .find("core dump  device.core, 2.0 KiB, not read: cuda-gdb is not on this machine; "
                      "cuda-gdb -ex 'target cudacore it'\\''s/device.core'"),
            std::string::npos);
  state.core = {.why_unread = "the driver wrote no core dump within 1.5 s"};
  EXPECT_NE(hang_summary(make_hang_report(state, nullptr), "run")
                .find("core dump  the driver wrote no core dump within 1.5 s\n"),
            std::string::npos);
}

TEST(HangReport, StacksSurviveTheCapture) {
  const HangState state = stalled_with_stacks();
  const auto back = parse_hang_state(to_json(state));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(state));
  ASSERT_EQ(back->stacks.size(), 3u);
  EXPECT_EQ(back->stacks[1].frames[1].function, "Copy::run");
  EXPECT_EQ(back->stacks[1].threads, 224u);
  EXPECT_EQ(back->core.bytes, 3u << 20);
}

TEST(HangReport, ACutStateFitsWithAnyStacks) {
  HangState state = stalled();
  const std::string long_text(kFrameTextMax, '"');  // two bytes each in JSON
  for (std::size_t i = 0; i < kStacksMax; ++i)
    state.stacks.push_back(
        {.unit = ~0u,
         .sm = ~0u,
         .first_thread = ~0u,
         .threads = ~0u,
         .exception = long_text,
         .frames = std::vector<StackFrame>(kFramesMax, {long_text, long_text + "the end", ~0u})});
  state.core = {.file = kCoreDumpFile, .bytes = ~0ull, .why_unread = long_text};
  state.kernels.assign(kKernelNumbersMax, std::string(256, 'k'));
  const HangState cut = cut_hang_state(state);
  ASSERT_FALSE(cut.stacks.empty());
  EXPECT_TRUE(cut.stacks[0].frames[0].file.ends_with("the end"));
  EXPECT_LE(to_json(cut).size(), hang_state_bytes(state.units, 0));
}

TEST(HangReport, OfADeadlockNamesTheCircle) {
  HangState state = stalled();
  state.hang = HangClass::kDependencyDeadlock;
  state.has_unit = false;
  state.lines[state.units.core(1)].state = UnitState::kIdle;
  state.tasks = {{.id = 1, .kernels = {0, kNoKernel, kNoKernel}, .pending = 1, .waiters = {2}},
                 {.id = 2, .kernels = {1, kNoKernel, kNoKernel}, .pending = 1, .waiters = {1}}};
  const HangReport report = make_hang_report(state, nullptr);
  EXPECT_EQ(report.hang_class, "dependency deadlock");
  ASSERT_EQ(report.stuck.size(), 2u);
  for (const auto& stuck : report.stuck) {
    const bool first = stuck.task_id == 1;
    EXPECT_EQ(stuck.waits_for, std::vector<std::string>{first ? "task t2 (add) to be complete"
                                                              : "task t1 (copy) to be complete"});
  }
  EXPECT_NE(report.sentence.find("t1"), std::string::npos) << report.sentence;
  EXPECT_NE(report.sentence.find("t2"), std::string::npos) << report.sentence;
}

TEST(HangReport, HasTheLastThreeRecordsOfEachCore) {
  const samples::TemporaryDirectory directory;
  RuntimeConfig config;
  config.cluster_count = 1;
  config.scheduler_count = 1;
  config.streams[StreamId::kSwimlane] = 1;
  samples::HandCapture capture(config);
  for (std::uint64_t task = 5; task < 12; ++task)
    capture.write(config.lanes().spans(1), TaskSpan{.task_id = task,
                                                    .begin_ticks = kLaunchTicks + task * 1000,
                                                    .end_ticks = kLaunchTicks + task * 1000 + 500,
                                                    .kernel = 0,
                                                    .core = 1});
  RunCapture run = capture.open(directory);
  const HangReport report = make_hang_report(stalled(), &run);
  ASSERT_TRUE(report.last_spans.contains(1));
  const auto& spans = report.last_spans.at(1);
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].task_id, 9u);
  EXPECT_EQ(spans[2].task_id, 11u) << "newest last";
  const std::string text = hang_summary(report, "run");
  EXPECT_NE(text.find("before     core 1 ran t9 copy (0.5 us), t10 copy (0.5 us), t11 copy"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace tidemark
