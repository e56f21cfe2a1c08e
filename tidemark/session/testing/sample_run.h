// SPDX-License-Identifier: Apache-2.0
// A whole run directory for tests, from a sample recording: capture.tide and run.json as a session
// writes them, in a few kilobytes.
#pragma once

#include <string>
#include <vector>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/capture/testing/sample_recording.h"
#include "tidemark/run/description.h"
#include "tidemark/run/report_lanes.h"
#include "tidemark/session/region_words.h"

namespace tidemark::samples {

inline RunReport sample_report() {
  RunReport report;
  report.run_id = kRunId;
  report.workload = "sample";
  report.case_name = "small";
  report.platform = "sim";
  report.runtime = "none";
  report.transport = "mapped";
  report.seed = 42;
  report.rank = 3;
  report.device = 1;
  report.host_id = "host";
  report.status = RunStatus::kOk;
  report.ticks_per_second = 1'000'000'000;
  report.anchors = {
      {.device_ticks = kLaunchTicks, .host_ns = 5, .real_ns = 1'700'000'000'000'000'000ull}};
  return report;
}

inline CaptureDescription sample_description(const RegionPlan& plan) {
  return {.run = sample_report(),
          .page_bytes = plan.layout.shape.page_bytes,
          .lanes = plan.lanes,
          .kernels = {"add", "mul", "exp"}};
}

// What the recording did, for the tests to compare with.
struct SampleRun {
  RunReport report;
  std::vector<bool> accepted;  // of lane kDrops
  NameTexts names;
};

inline SampleRun write_sample_run(const std::string& directory,
                                  const SampleRecording::Options& options = {}) {
  const std::string path = directory + "/capture.tide";
  auto writer = CaptureWriter::create(path, kRunId).value();
  const RegionPlan plan = plan_sample(options.page_bytes);
  CaptureDescription description = sample_description(plan);
  if (options.late_lanes) description.lanes.assign(plan.lanes.size(), LanePlan{});
  TM_CHECK(writer->append_text(ChunkType::kDescription, describe_capture(description)));
  SampleRecording recording(*writer, options);
  SampleRun run{.report = sample_report(),
                .accepted = recording.accepted(),
                .names = read_names(recording.port(), plan.layout)};
  const RunClock clock{.launch_ticks = kLaunchTicks,
                       .finish_ticks = SampleEnv::ticks,
                       .ticks_per_second = run.report.ticks_per_second,
                       .anchors = run.report.anchors};
  TM_CHECK(writer->append_text(ChunkType::kClock, describe_clock(clock)));
  TM_CHECK(writer->append_text(ChunkType::kNames, describe_names(run.names)));
  TM_CHECK(writer->append_lanes(recording.lane_records(), false));
  TM_CHECK(writer->finish());
  for (LaneIndex lane = 0; lane < plan.lanes.size(); ++lane)
    run.report.lanes.push_back(report_lane(lane, plan.lanes[lane],
                                           recording.leftovers().words[lane],
                                           recording.ledgers()[lane].counts()));
  TM_CHECK(write_run_report(directory, run.report));
  return run;
}

}  // namespace tidemark::samples
