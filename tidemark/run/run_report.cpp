// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/run_report.h"

#include <algorithm>

#include "tidemark/run/identity_json.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kSchemaVersion = 1;

// `report`: how long a tick is.
template <class V>
void count_fields(V& v, Of<LaneCounts> auto& counts, const RunReport& report) {
  TM_FIELDS(v, counts, produced, delivered, recovered, dropped);
  v.object("dropped_by", [&](auto& by) {
    for (std::size_t i = 0; i < kDropReasonCount; ++i)
      by(to_text(static_cast<DropReason>(i)), counts.dropped_by[i]);
  });
  v("overwritten", counts.overwritten);
  v("incomplete", counts.incomplete);
  std::uint64_t unaccounted = counts.unaccounted();
  v("unaccounted", unaccounted);
  if (V::kReads || counts.contradictory > 0) v("contradictory", counts.contradictory);
  if constexpr (V::kReads) {
    counts.contradictory = std::min(unaccounted, counts.contradictory);
    counts.missing = unaccounted - counts.contradictory;
  }
  TM_FIELDS(v, counts, bytes, pages);
  v.writes("stall_ns", report.ticks_to_ns(counts.stall_ticks));
  TM_FIELDS(v, counts, gaps, gap_lost);
}

void lane_fields(auto& v, auto& lanes, const RunReport& report) {
  v.list("lanes", lanes, [&](auto& of, auto& lane, std::size_t) {
    TM_FIELDS(of, lane, lane, producer, state, policy);
    count_fields(of, lane.counts, report);
  });
}

void put_lanes_by_stream(auto& v, const RunReport& report) {
  for (const auto& stream : kStreams) {
    LaneCounts sum;
    std::vector<LaneReport> lanes;
    for (const auto& lane : report.lanes)
      if (lane.stream == stream.name) {
        sum.add(lane.counts);
        lanes.push_back(lane);
      }
    if (lanes.empty()) continue;
    v.object(stream.name, [&](auto& of) {
      count_fields(of, sum, report);
      lane_fields(of, lanes, report);
    });
  }
}

void read_lanes_by_stream(const rapidjson::Value& streams, RunReport& report) {
  if (!streams.IsObject()) return;
  for (const auto& stream : streams.GetObject()) {
    const std::size_t known = report.lanes.size();
    FieldReader of(stream.value);
    lane_fields(of, report.lanes, report);
    for (std::size_t i = known; i < report.lanes.size(); ++i)
      report.lanes[i].stream = text_of(stream.name);
  }
}

void region_fields(auto& v, Of<RunReport> auto& report) {
  v("path", report.region_path);
  v("bytes", report.region_bytes);
  v("boot_id", report.boot_id);
  v("host_pid", report.host.pid);
  v("host_start_time", report.host.start_time);
  TM_FIELDS(v, report, host_name, pid_namespace);
}

// Null: nothing was compared.
template <class V>
void result_fields(V& v, Of<RunReport> auto& report) {
  if constexpr (!V::kReads)
    if (!report.result_ok) return v.writes("result", nullptr);
  bool passed = report.result_ok.value_or(false);
  v.object("result", [&](auto& result) {
    result("passed", passed);
    result("text", report.result);
    if constexpr (V::kReads) report.result_ok = passed;
  });
}

void clock_fields(auto& v, Of<RunReport> auto& report) {
  std::uint64_t uncertainty_ns = 0;
  for (const auto& anchor : report.anchors)
    uncertainty_ns = std::max(uncertainty_ns, anchor.uncertainty_ns);
  v("ticks_per_second", report.ticks_per_second);
  v.writes("uncertainty_ns", uncertainty_ns);
  v.writes("anchors", report.anchors);
}

}  // namespace

static void fields(auto& v, const NotExported& file) { TM_FIELDS(v, file, file, reason, command); }

static void fields(auto& v, Of<RecorderReport> auto& recorder) {
  TM_FIELDS(v, recorder, ns_per_record, drain_threads, host_cpu_ns, pool_bytes, min_free_pages,
            max_full_pages, device_stall_share, corrupt_pages, corruption);
}

template <class V>
static void fields(V& v, Of<RunReport> auto& report) {
  v.writes("schema_version", kSchemaVersion);
  identity_fields(v, report);
  if (V::kReads || !report.region_path.empty())
    v.object("region", [&](auto& region) { region_fields(region, report); });
  v("exit_code", report.exit_code);
  ending_fields(v, report);
  v("warnings", report.warnings);
  result_fields(v, report);
  TM_FIELDS(v, report, device_ns, host_ns, loss_known);
  if constexpr (!V::kReads)
    v.object("streams", [&](auto& streams) { put_lanes_by_stream(streams, report); });
  v.writes("not_exported", report.not_exported);
  v("recorder", report.recorder);
  v.object("clock", [&](auto& clock) { clock_fields(clock, report); });
}

LaneCounts RunReport::total() const {
  LaneCounts sum;
  for (const auto& lane : lanes) sum.add(lane.counts);
  return sum;
}

bool RunReport::ledger_closes() const {
  return std::ranges::all_of(lanes, &LaneCounts::closes, &LaneReport::counts);
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

std::string to_json(const RunReport& report) { return json_text<JsonWriter>(report, 2); }

Expected<RunReport> parse_run_report(const std::string& text, const std::string& path) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject())
    return failure(ErrorKind::kDamage, "{} is not a JSON object", path);
  std::uint64_t version = 0;
  FieldReader::read(member_of(document, "schema_version"), version);
  if (version > kSchemaVersion)
    return failure(ErrorKind::kDamage,
                   "{} has schema version {}; this tidemark reads up to version {}", path, version,
                   kSchemaVersion);
  RunReport report;
  FieldReader::read(document, report);
  if (report.run_id == 0)
    return failure(ErrorKind::kDamage, "{} has no run_id: not a run's file", path);
  read_lanes_by_stream(member_of(document, "streams"), report);
  return report;
}

}  // namespace tidemark
