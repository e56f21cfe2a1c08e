// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/run_report.h"

#include <algorithm>

#include "tidemark/run/identity_json.h"
#include "tidemark/run/json.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

constexpr DropReason kReasons[] = {DropReason::kNoPage, DropReason::kHostGone, DropReason::kAborted,
                                   DropReason::kFileError, DropReason::kDeviceLost};

void put_counts(JsonWriter& json, const LaneCounts& counts, const RunReport& report) {
  put(json, "produced", counts.produced);
  put(json, "delivered", counts.delivered);
  put(json, "recovered", counts.recovered);
  put(json, "dropped", counts.dropped);
  put_key(json, "dropped_by");
  json.StartObject();
  for (const auto reason : kReasons)
    put(json, to_text(reason), counts.dropped_by[static_cast<std::size_t>(reason)]);
  json.EndObject();
  put(json, "overwritten", counts.overwritten);
  put(json, "incomplete", counts.incomplete);
  put(json, "unaccounted", counts.unaccounted());
  if (counts.contradictory > 0) put(json, "contradictory", counts.contradictory);
  put(json, "bytes", counts.bytes);
  put(json, "pages", counts.pages);
  put(json, "stall_ns", report.ticks_to_ns(counts.stall_ticks));
  put(json, "gaps", counts.gaps);
  put(json, "gap_lost", counts.gap_lost);
}

void put_lane(JsonWriter& json, const LaneReport& lane, const RunReport& report) {
  json.StartObject();
  put(json, "lane", lane.lane);
  put(json, "producer", lane.producer);
  put(json, "state", lane.state);
  put(json, "policy", lane.policy);
  put_counts(json, lane.counts, report);
  json.EndObject();
}

void put_streams(JsonWriter& json, const RunReport& report) {
  put_key(json, "streams");
  json.StartObject();
  for (const auto& stream : kStreams) {
    LaneCounts sum;
    std::vector<const LaneReport*> lanes;
    for (const auto& lane : report.lanes)
      if (lane.stream == stream.name) {
        sum.add(lane.counts);
        lanes.push_back(&lane);
      }
    if (lanes.empty()) continue;
    put_key(json, stream.name);
    json.StartObject();
    put_counts(json, sum, report);
    put_key(json, "lanes");
    json.StartArray();
    for (const auto* lane : lanes) put_lane(json, *lane, report);
    json.EndArray();
    json.EndObject();
  }
  json.EndObject();
}

void put_outcome(JsonWriter& json, const RunReport& report) {
  put_ending(json, report);
  put_key(json, "warnings");
  json.StartArray();
  for (const auto& warning : report.warnings) put_error(json, warning);
  json.EndArray();
  put_key(json, "result");
  if (!report.result_ok) {
    json.Null();
    return;
  }
  json.StartObject();
  put(json, "passed", *report.result_ok);
  put(json, "text", report.result);
  json.EndObject();
}

void put_recorder(JsonWriter& json, const RecorderReport& recorder) {
  put_key(json, "recorder");
  json.StartObject();
  put(json, "ns_per_record", recorder.ns_per_record);
  put(json, "drain_threads", recorder.drain_threads);
  put(json, "host_cpu_ns", recorder.host_cpu_ns);
  put(json, "pool_bytes", recorder.pool_bytes);
  put(json, "min_free_pages", recorder.min_free_pages);
  put(json, "max_full_pages", recorder.max_full_pages);
  put(json, "device_stall_share", recorder.device_stall_share);
  put(json, "corrupt_pages", recorder.corrupt_pages);
  put_key(json, "corruption");
  json.StartArray();
  for (const auto& line : recorder.corruption) put_text(json, line);
  json.EndArray();
  json.EndObject();
}

void put_clock(JsonWriter& json, const RunReport& report) {
  std::uint64_t uncertainty_ns = 0;
  for (const auto& anchor : report.anchors)
    uncertainty_ns = std::max(uncertainty_ns, anchor.uncertainty_ns);
  put_key(json, "clock");
  json.StartObject();
  put(json, "ticks_per_second", report.ticks_per_second);
  put(json, "uncertainty_ns", uncertainty_ns);
  put_anchors(json, report.anchors);
  json.EndObject();
}

}  // namespace

LaneCounts RunReport::total() const {
  LaneCounts sum;
  for (const auto& lane : lanes) sum.add(lane.counts);
  return sum;
}

bool RunReport::ledger_closes() const {
  return std::all_of(lanes.begin(), lanes.end(),
                     [](const LaneReport& lane) { return lane.counts.closes(); });
}

std::uint64_t RunReport::ticks_to_ns(std::uint64_t ticks) const {
  if (ticks_per_second == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<long double>(ticks) * 1e9L /
                                    static_cast<long double>(ticks_per_second));
}

void thin_anchors(std::vector<ClockSample>& anchors) {
  while (anchors.size() > kAnchorsMax) {
    std::vector<ClockSample> kept;
    for (std::size_t i = 0; i < anchors.size(); i += 2) kept.push_back(anchors[i]);
    if (anchors.size() % 2 == 0) kept.push_back(anchors.back());
    anchors = std::move(kept);
  }
}

std::string run_id_text(std::uint64_t run_id) { return fmt::format("{:016x}", run_id); }

std::string to_json(const RunReport& report) {
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  json.SetIndent(' ', 2);
  json.StartObject();
  put(json, "schema_version", 1);
  put_what_ran(json, report);
  put_place(json, report);
  if (!report.region_path.empty()) {
    put_key(json, "region");
    json.StartObject();
    put(json, "path", report.region_path);
    put(json, "bytes", report.region_bytes);
    put(json, "boot_id", report.boot_id);
    put(json, "host_pid", report.host.pid);
    put(json, "host_start_time", report.host.start_time);
    put(json, "host_name", report.host_name);
    put(json, "pid_namespace", report.pid_namespace);
    json.EndObject();
  }
  put(json, "exit_code", report.exit_code);
  put_outcome(json, report);
  put(json, "device_ns", report.device_ns);
  put(json, "host_ns", report.host_ns);
  put(json, "loss_known", report.loss_known);
  put_streams(json, report);
  put_key(json, "not_exported");
  json.StartArray();
  for (const auto& file : report.not_exported) {
    json.StartObject();
    put(json, "file", file.file);
    put(json, "reason", file.reason);
    put(json, "command", file.command);
    json.EndObject();
  }
  json.EndArray();
  put_recorder(json, report.recorder);
  put_clock(json, report);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace tidemark
