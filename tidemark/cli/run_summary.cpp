// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/run_summary.h"

#include <algorithm>

#include <fmt/core.h>

#include "tidemark/base/human_text.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark::cli {
namespace {

void add_stream(std::string& text, const RunReport& report, const StreamInfo& stream) {
  LaneCounts sum;
  std::uint64_t lanes = 0;
  for (const auto& lane : report.lanes)
    if (lane.stream == stream.name) {
      sum.add(lane.counts);
      ++lanes;
    }
  if (lanes == 0) return;
  text += fmt::format("  {:<10} {} produced on {} lane{} = {} delivered", stream.name,
                      with_commas(sum.produced), lanes, lanes == 1 ? "" : "s",
                      with_commas(sum.delivered));
  if (sum.recovered > 0) text += fmt::format(" + {} recovered", with_commas(sum.recovered));
  text += fmt::format(" + {} dropped", with_commas(sum.dropped));
  if (sum.overwritten > 0) text += fmt::format(" + {} overwritten", with_commas(sum.overwritten));
  text += sum.closes() ? "\n" : fmt::format("; {} UNACCOUNTED\n", with_commas(sum.unaccounted()));
  if (sum.dropped > 0) {
    text += fmt::format("  {:<10} ", "");
    for (std::size_t i = 0; i < kDropReasonCount; ++i)
      if (sum.dropped_by[i] > 0)
        text += fmt::format("{} by {}  ", with_commas(sum.dropped_by[i]),
                            to_text(static_cast<DropReason>(i)));
    text += sum.gaps == 0 ? "\n" : fmt::format("in {} gaps\n", with_commas(sum.gaps));
  }
  if (sum.incomplete > 0)
    text += fmt::format("  {:<10} {} not whole when the lane was read\n", "",
                        with_commas(sum.incomplete));
}

// A recovered run knows only what its region and capture say.
void add_cost(std::string& text, const RunReport& report) {
  const std::string captured = human_bytes(report.total().bytes);
  if (report.status == RunStatus::kRecovered) {
    text += fmt::format("  captured   {}\n", captured);
    return;
  }
  text += fmt::format("  time       device {}, host {}; producers waited {:.1f} % of the time\n",
                      human_ns(report.device_ns), human_ns(report.host_ns),
                      report.recorder.device_stall_share * 100);
  text +=
      fmt::format("  recorder   {} ns per record, {} captured, {} of host processor time\n",
                  report.recorder.ns_per_record, captured, human_ns(report.recorder.host_cpu_ns));
}

void add_error(std::string& text, const RunReport& report) {
  if (!report.error) return;
  text += fmt::format("  error      {} {}: {}\n  hint       {}\n", report.error->code,
                      report.error->name, report.error->message, report.error->hint);
}

void add_not_exported(std::string& text, const RunReport& report, const std::string& directory) {
  if (report.not_exported.empty()) return;
  const std::string& reason = report.not_exported.front().reason;
  const bool all_alike =
      std::all_of(report.not_exported.begin(), report.not_exported.end(),
                  [&](const NotExported& file) { return file.reason == reason; });
  if (all_alike) {
    text += fmt::format("  not made   {} artifact{} ({}): tidemark export {}\n",
                        report.not_exported.size(), report.not_exported.size() == 1 ? "" : "s",
                        reason, directory);
    return;
  }
  for (const auto& file : report.not_exported)
    text += fmt::format("  not made   {} ({}): {}\n", file.file, file.reason, file.command);
}

}  // namespace

std::string summarize_kept(const RunReport& report) {
  std::string text = fmt::format("{} on {} ({}): {}, not closed\n", report.workload,
                                 report.platform, report.transport, to_text(report.status));
  add_error(text, report);
  return text;
}

std::string summarize(const RunReport& report, const std::string& directory) {
  std::string text = fmt::format("{} on {} ({}): {}\n", report.workload, report.platform,
                                 report.transport, to_text(report.status));
  add_error(text, report);
  for (const auto& warning : report.warnings)
    text += fmt::format("  warning    {} {}: {}\n  hint       {}\n", warning.code, warning.name,
                        warning.message, warning.hint);
  if (report.runtime != "none")
    text += fmt::format("  tasks      {} of {} complete, {} scope{}, {}\n",
                        with_commas(report.tasks.completed), with_commas(report.tasks.submitted),
                        with_commas(report.tasks.scopes), report.tasks.scopes == 1 ? "" : "s",
                        report.runtime);
  if (report.iterations) {
    const IterationCounts& counts = *report.iterations;
    text += fmt::format("  iterations {} of {} complete", with_commas(counts.completed),
                        with_commas(counts.asked));
    if (counts.completed > 0) text += fmt::format("; the first {}", human_ns(counts.first_ns));
    if (counts.completed > 1)
      text += fmt::format(", each of the others {}", human_ns(counts.next_ns));
    text += "\n";
  }
  if (report.result_ok)
    text += fmt::format("  result     {}{}\n", *report.result_ok ? "" : "WRONG: ", report.result);
  if (report.lanes.empty() && report.status != RunStatus::kRecovered) {
    text += fmt::format("  time       device {}, host {}\n  files      {}\n",
                        human_ns(report.device_ns), human_ns(report.host_ns), directory);
    return text;
  }
  for (const auto& stream : kStreams) add_stream(text, report, stream);
  if (!report.loss_known)
    text += "  loss       unknown: the region was gone before it could be read\n";
  text += report.ledger_closes() ? "  ledger     closed: every number is accounted for\n"
                                 : "  ledger     DOES NOT CLOSE\n";
  for (const auto& line : report.recorder.corruption)
    text += fmt::format("  corruption {}\n", line);
  add_cost(text, report);
  text += fmt::format("  files      {}\n", directory);
  add_not_exported(text, report, directory);
  return text;
}

}  // namespace tidemark::cli
