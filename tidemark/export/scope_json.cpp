// SPDX-License-Identifier: Apache-2.0
// scope_stats.jsonl: one line per scope boundary. scope_stats.json: peaks per site and resource.
#include "tidemark/analyze/scope_fields.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/event_json.h"
#include "tidemark/export/row_text.h"
#include "tidemark/run/identity_json.h"

namespace tidemark {
namespace {

class ScopeLines {
 public:
  ScopeLines(RunCapture& run, PartFile& part)
      : run_(run), part_(part), out_(part.text()), config_(*run.runtime()) {
    for (RingSizes& ring : config_.rings) ring.args_bytes = args_bytes_of(ring);
  }

  void put_head(const ScopeReport& report) {
    append("{{\"version\":6,\"fatal\":{},\"dropped\":{},\"total\":{}", report.fatal, report.dropped,
           report.boundaries);
    put_rings("task_window_max", &RingSizes::task_window);
    put_rings("heap_max", &RingSizes::heap_bytes);
    put_rings("dep_pool_max", &RingSizes::dep_pool);
    put_rings("args_max", &RingSizes::args_bytes);
    append(",\"tensormap_max\":{}}}\n", config_.tensormap_entries);
  }

  void put_line(const ScopeBoundary& boundary) {
    part_.flush_if_full();
    const bool end = boundary.phase == ScopeBoundary::Phase::kEnd;
    const RingMarks& marks = boundary.marks;
    append("{{\"site\":{},\"phase\":\"{}\",\"depth\":{},\"ring\":{},\"time_ns\":{}",
           json_text(run_.site_of(boundary.file, boundary.line)), end ? "end" : "begin",
           boundary.depth, boundary.ring, run_.clock().to_ns(boundary.time_ticks));
    append(",\"task_window_start\":{},\"task_window_end\":{},\"heap_start\":{},\"heap_end\":{}",
           marks.task_tail, marks.task_head, marks.heap_tail, marks.heap_head);
    append(",\"dep_pool_start\":{},\"dep_pool_end\":{},\"fanin_start\":{},\"fanin_end\":{}",
           marks.dep_tail, marks.dep_head, marks.fanin_tail, marks.fanin_head);
    append(",\"tensormap\":{}", boundary.map_entries);
    if (end) put_peaks(boundary.peaks);
    out_.append("}\n");
  }

 private:
  template <class... T>
  void append(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
  }
  // "used/capacity" of every ring; without `used` the capacities alone.
  template <class Size, class Used = std::uint32_t>
  void put_rings(const char* key, Size RingSizes::*capacity, const Used* used = nullptr) {
    append(",\"{}\":", key);
    for (std::uint32_t i = 0; i < kRingCount; ++i) {
      out_.push_back(i == 0 ? '[' : ',');
      used == nullptr ? append("{}", config_.rings[i].*capacity)
                      : append("\"{}/{}\"", used[i], config_.rings[i].*capacity);
    }
    out_.push_back(']');
  }
  void put_peaks(const ScopePeaks& peaks) {
    put_rings("task_window", &RingSizes::task_window, peaks.tasks);
    put_rings("heap", &RingSizes::heap_bytes, peaks.heap_bytes);
    put_rings("dep_pool", &RingSizes::dep_pool, peaks.deps);
    put_rings("fanin", &RingSizes::dep_pool, peaks.fanin);
    put_rings("args", &RingSizes::args_bytes, peaks.args_bytes);
    append(",\"tensormap_peak\":\"{}/{}\"", peaks.map_entries, config_.tensormap_entries);
  }

  RunCapture& run_;
  PartFile& part_;
  std::string& out_;
  RuntimeConfig config_;
};

}  // namespace

static void fields(auto& v, const ResourceUse& use) {
  use_fields(v, use);
  v("suggested_setting", fmt::format("{} {}", use.flag, use.needed));
}

static void fields(auto& v, const ScopeSite& site) {
  site_fields(v, site);
  peak_fields(v, site.peaks);
}

Expected<void> write_scope_lines(RunCapture& run, const std::string& path) {
  TM_TRY(const auto report, report_scopes(run));
  TM_TRY(auto part, PartFile::create(path));
  ScopeLines lines(run, part);
  lines.put_head(report);
  run.for_each<ScopeBoundary>([&](const auto& boundary, LaneIndex) { lines.put_line(boundary); });
  return part.finish();
}

Expected<void> write_scope_summary(RunCapture& run, const std::string& path) {
  TM_TRY(const auto report, report_scopes(run));
  const auto& outcome = run.outcome();
  return write_json(path, [&](JsonFile& file) {
    FieldWriter v(file.json());
    v("schema_version", 1);
    TM_FIELDS(v, report, fatal, dropped);
    v("scopes_unfinished", report.unfinished);
    v("culprit", outcome && outcome->error ? outcome->error->culprit : std::nullopt);
    v("smallest_settings", report.smallest_settings());
    put_lines(file, "sites", report.sites, [&](const auto& site) { fields(v, site); });
    put_lines(file, "resources", report.resources, [&](const auto& use) { fields(v, use); });
    put_events(file, run);
  });
}

}  // namespace tidemark
