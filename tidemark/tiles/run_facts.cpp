// SPDX-License-Identifier: Apache-2.0
// From an analysed run to the facts that findings are made of.
#include <algorithm>
#include <map>

#include "tidemark/schema/access.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/tiles/analysed_run.h"

namespace tidemark {
namespace {

std::string stream_name(const RunCapture& run, LaneIndex lane) {
  const StreamInfo* stream = find_stream(run.lanes()[lane].stream);
  return stream == nullptr ? "unknown" : std::string(stream->name);
}

FindingLink link_of(const AnalysedRun& analysed, const LossRow& row) {
  return {.track = analysed.loss_track_of(row.lane), .time = analysed.time_of(row.from_ticks)};
}

bool is_expected(Overflow policy, std::string_view reason) {
  if (reason == to_text(DropReason::kNoPage)) return policy == Overflow::kDrop;
  return reason == kLossOverwritten && policy == Overflow::kKeepLast;
}

// Rows come largest first, so that the first one of a stream and reason has the link.
std::vector<StreamLoss> losses_of(const AnalysedRun& analysed) {
  std::vector<StreamLoss> losses;
  std::vector<std::map<LaneIndex, std::uint64_t>> by_lane;
  for (const LossRow& row : analysed.losses) {
    const LanePlan& plan = analysed.run.lanes()[row.lane];
    const std::string stream = stream_name(analysed.run, row.lane);
    const bool expected = is_expected(plan.overflow, row.reason);
    auto found = std::ranges::find_if(losses, [&](const StreamLoss& loss) {
      return loss.stream == stream && loss.reason == row.reason && loss.expected == expected;
    });
    if (found == losses.end()) {
      losses.push_back({.stream = stream,
                        .reason = std::string(row.reason),
                        .expected = expected,
                        .link = link_of(analysed, row)});
      by_lane.emplace_back();
      found = losses.end() - 1;
    }
    found->lost += row.lost;
    ++found->places;
    by_lane[static_cast<std::size_t>(found - losses.begin())][row.lane] += row.lost;
  }
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto most = std::ranges::max_element(by_lane[i], {},
                                               &std::pair<const LaneIndex, std::uint64_t>::second);
    losses[i].producer = analysed.run.lanes()[most->first].producer;
  }
  return losses;
}

std::optional<NanFact> nan_of(const AnalysedRun& analysed) {
  const NanReport& nans = analysed.nans;
  if (!analysed.dump || !nans.seen) return std::nullopt;
  const std::size_t row = nans.made.value_or(*nans.seen);
  const DumpEntry& entry = analysed.dump->entries[row];
  const DumpHeader& header = entry.header;
  NanFact nan{.is_nan = analysed.nans_are_nan,
              .made = nans.made.has_value(),
              .task_id = header.task_id,
              .kernel = dump_kernel_name(analysed.run, header),
              .arg = header.arg_index,
              .role = std::string(role_text(header.access)),
              .before = header.stage == DumpStage::kBeforeDispatch,
              .count = analysed.nans_are_nan ? entry.stats.nan : entry.stats.inf,
              .elements = header.logical_bytes / dtype_bytes(header.dtype),
              .tasks_wrote = nans.tasks_wrote,
              .link = {.panel = "tensors",
                       .task = header.task_id,
                       .track = analysed.track_of_core(header.core),
                       .time = analysed.time_of(header.time_ticks),
                       .row = row}};
  for (const std::size_t input : nans.clean_inputs)
    nan.clean_inputs.push_back(analysed.dump->entries[input].header.arg_index);
  if (analysed.graph)
    if (const TaskNode* node = analysed.graph->find(header.task_id))
      nan.site = analysed.run.site_of(node->task.submit_file, node->task.submit_line);
  nan.link.site = nan.site;
  return nan;
}

std::optional<PathFact> path_of(const AnalysedRun& analysed) {
  if (!analysed.path || analysed.path->steps.empty()) return std::nullopt;
  const CriticalPath& path = *analysed.path;
  PathFact fact{.path = path, .step_count = path.steps.size()};
  fact.complete = analysed.graph->complete();
  std::map<std::uint16_t, double> by_kernel;
  for (const PathStep& step : path.steps) by_kernel[step.kernel] += step.execution_ns;
  const auto most =
      std::ranges::max_element(by_kernel, {}, &std::pair<const std::uint16_t, double>::second);
  if (most->second > 0 && path.execution_ns > 0) {
    fact.kernel = analysed.run.kernel_name(most->first);
    fact.kernel_share = most->second / path.execution_ns;
  }
  const auto longest = std::ranges::max_element(path.steps, {}, &PathStep::spent_ns);
  fact.link = {.task = longest->task_id,
               .time = analysed.time_of(analysed.times->tasks[longest->task].submit_ticks)};
  if (longest->ran) {
    fact.link.track = analysed.track_of_core(longest->core);
    fact.link.time = analysed.time_of(analysed.times->tasks[longest->task].start_ticks);
  }
  return fact;
}

std::optional<KernelFact> kernel_of(const AnalysedRun& analysed) {
  if (!analysed.timeline || analysed.timeline->kernels.empty()) return std::nullopt;
  const Timeline& timeline = *analysed.timeline;
  double all_ns = 0;
  for (const KernelTiming& kernel : timeline.kernels) all_ns += kernel.execution.total_ns;
  const KernelTiming& most = timeline.kernels.front();
  KernelFact fact{.name = most.name,
                  .share = all_ns > 0 ? most.execution.total_ns / all_ns : 0,
                  .blocks = most.execution.count,
                  .mean_ns = most.execution.mean_ns(),
                  .most_ns = most.execution.most_ns};
  const auto slowest = std::ranges::find(timeline.slowest, most.kernel, &TaskRow::kernel);
  if (slowest != timeline.slowest.end())
    fact.link = {.task = slowest->task_id,
                 .track = analysed.track_of_core(slowest->core),
                 .time = analysed.time_of(slowest->start_ticks)};
  return fact;
}

std::optional<HangFact> hang_of(const AnalysedRun& analysed) {
  if (!analysed.hang) return std::nullopt;
  const HangReport& report = *analysed.hang;
  HangFact fact{.hang_class = report.hang_class, .sentence = report.sentence};
  if (report.stuck.empty()) return fact;
  const StuckReport& stuck = report.stuck.front();
  fact.link.task = stuck.task_id;
  fact.link.site = stuck.site;
  if (stuck.core) {
    fact.link.track = analysed.track_of_core(*stuck.core);
    const UnitImage& line = report.state.core_lines()[*stuck.core];
    fact.link.time = analysed.time_of(doing_since_ticks(line));
  }
  return fact;
}

}  // namespace

RunFacts facts_of(const AnalysedRun& analysed) {
  RunFacts facts{.status = analysed.status(), .has_dump = analysed.dump.has_value()};
  if (const RunError* error = analysed.error()) facts.error = *error;
  if (const auto& outcome = analysed.run.outcome()) facts.tasks = outcome->tasks;
  if (const auto& report = analysed.report) {
    facts.warnings = report->warnings;
    facts.result = report->result;
    facts.tasks = report->tasks;
    facts.loss_known = report->loss_known;
    facts.stall_share = report->recorder.device_stall_share;
  }
  facts.produced = analysed.produced;
  facts.hang = hang_of(analysed);
  facts.losses = losses_of(analysed);
  facts.nan = nan_of(analysed);
  facts.path = path_of(analysed);
  facts.starvation = analysed.starvation;
  facts.kernel = kernel_of(analysed);
  if (analysed.longest_stall) {
    facts.stall_link.track = analysed.loss_track_of(analysed.longest_stall->lane);
    facts.stall_link.time = analysed.time_of(analysed.longest_stall->from_ticks);
  }
  if (analysed.scopes)
    if (const ResourceUse* limit = analysed.scopes->closest_to_limit()) facts.limit = *limit;
  return facts;
}

}  // namespace tidemark
