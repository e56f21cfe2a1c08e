// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/report_lanes.h"

#include <cstring>

#include "tidemark/base/plain_text.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

const char* state_text(const LaneWordsImage& words, const LaneCounts& counts) {
  switch (words.state) {
    case LaneState::kUnopened:
      return "unknown";
    case LaneState::kOpen:
      return "open";
    case LaneState::kClosed:
      return counts.produced == 0 ? "clean" : "closed";
  }
  return "unknown";
}

}  // namespace

LaneReport report_lane(LaneIndex lane, const LanePlan& plan, const LaneWordsImage& words,
                       const LaneCounts& counts) {
  const StreamInfo* stream = find_stream(plan.stream);
  return {.lane = lane,
          .stream = stream == nullptr ? "" : std::string(stream->name),
          .producer = plain_text({plan.producer, ::strnlen(plan.producer, kProducerTextBytes)}),
          .state = state_text(words, counts),
          .policy = std::string(to_text(plan.overflow)),
          .counts = counts};
}

void report_faults(const FaultCounts& faults, RecorderReport& report) {
  report.corrupt_pages += faults.total();
  for (std::size_t i = 1; i < kPageFaultCount; ++i) {
    const auto fault = static_cast<PageFault>(i);
    if (faults.of(fault) > 0)
      report.corruption.push_back(fmt::format("{}: {} times", to_text(fault), faults.of(fault)));
  }
}

int decide_exit_code(const RunReport& report, const std::string& file_error) {
  if (report.status == RunStatus::kHang || report.status == RunStatus::kDeviceFault ||
      report.status == RunStatus::kFatal)
    return 3;
  if (!file_error.empty()) return 5;
  if (!report.ledger_closes() || report.recorder.corrupt_pages > 0 || !report.loss_known) return 4;
  for (const auto& lane : report.lanes)
    if (lane.policy == "wait" &&
        lane.counts.dropped_by[static_cast<std::size_t>(DropReason::kNoPage)] > 0)
      return 4;
  if (report.status == RunStatus::kMismatch) return 1;
  return 0;
}

}  // namespace tidemark
