// SPDX-License-Identifier: Apache-2.0
// scope_stats.jsonl: one line per scope boundary. scope_stats.json: peaks per site and resource.
#include "tidemark/analyze/scope_report.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/event_json.h"
#include "tidemark/export/row_text.h"

namespace tidemark {
namespace {

class ScopeLines {
 public:
  ScopeLines(RunCapture& run, BufferedPart& part)
      : run_(run), part_(part), out_(part.text()), config_(*run.runtime()) {}

  void put_head(const ScopeReport& report) {
    append("{{\"version\":6,\"fatal\":{},\"dropped\":{},\"total\":{}", report.fatal, report.dropped,
           report.boundaries);
    const auto maxima = [&](const char* key, auto value_of) {
      append(",\"{}\":[", key);
      for (std::uint32_t i = 0; i < kRingCount; ++i)
        append("{}{}", i == 0 ? "" : ",", value_of(config_.rings[i]));
      out_.push_back(']');
    };
    maxima("task_window_max", [](const RingSizes& ring) { return ring.task_window; });
    maxima("heap_max", [](const RingSizes& ring) { return ring.heap_bytes; });
    maxima("dep_pool_max", [](const RingSizes& ring) { return ring.dep_pool; });
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
  void put_peaks(const ScopePeaks& peaks) {
    const auto of_rings = [&](const char* key, const auto* used, auto capacity_of) {
      append(",\"{}\":[", key);
      for (std::uint32_t i = 0; i < kRingCount; ++i)
        append("{}\"{}/{}\"", i == 0 ? "" : ",", used[i], capacity_of(config_.rings[i]));
      out_.push_back(']');
    };
    of_rings("task_window", peaks.tasks, [](const RingSizes& ring) { return ring.task_window; });
    of_rings("heap", peaks.heap_bytes, [](const RingSizes& ring) { return ring.heap_bytes; });
    of_rings("dep_pool", peaks.deps, [](const RingSizes& ring) { return ring.dep_pool; });
    of_rings("fanin", peaks.fanin, [](const RingSizes& ring) { return ring.dep_pool; });
    append(",\"tensormap_peak\":\"{}/{}\"", peaks.map_entries, config_.tensormap_entries);
  }

  RunCapture& run_;
  BufferedPart& part_;
  std::string& out_;
  RuntimeConfig config_;
};

template <class Writer>
void put_use(Writer& json, const ResourceUse& use) {
  json.StartObject();
  put(json, "resource", use.resource);
  if (use.has_ring) put(json, "ring", use.ring);
  put(json, "peak", use.peak);
  put(json, "capacity", use.capacity);
  put(json, "percent", use.percent());
  put(json, "site", use.site);
  put(json, "suggested_setting", fmt::format("{} {}", use.flag, use.needed));
  json.EndObject();
}

template <class Writer>
void put_site(Writer& json, const ScopeSite& site) {
  json.StartObject();
  put(json, "site", site.site);
  put(json, "depth", site.depth);
  put(json, "ring", site.ring);
  put(json, "count", site.count);
  put(json, "total_ns", site.total_ns);
  put(json, "longest_ns", site.longest_ns);
  put(json, "percent", site.percent);
  put(json, "closest", site.closest);
  const auto numbers = [&](const char* key, const auto* values) {
    put_key(json, key);
    json.StartArray();
    for (std::uint32_t i = 0; i < kRingCount; ++i) json.Uint64(values[i]);
    json.EndArray();
  };
  numbers("task_window_peak", site.peaks.tasks);
  numbers("heap_peak", site.peaks.heap_bytes);
  numbers("dep_pool_peak", site.peaks.deps);
  numbers("fanin_peak", site.peaks.fanin);
  put(json, "tensormap_peak", site.peaks.map_entries);
  json.EndObject();
}

}  // namespace

Expected<void> write_scope_lines(RunCapture& run, const std::string& path) {
  const auto report = report_scopes(run);
  if (!report) return tl::unexpected(report.error());
  auto file = PartFile::create(path);
  if (!file) return tl::unexpected(file.error());
  BufferedPart part(std::move(*file));
  ScopeLines lines(run, part);
  lines.put_head(*report);
  for_each_boundary(run, [&](const ScopeBoundary& boundary) { lines.put_line(boundary); });
  return part.finish();
}

Expected<void> write_scope_summary(RunCapture& run, const std::string& path) {
  const auto report = report_scopes(run);
  if (!report) return tl::unexpected(report.error());
  auto file = JsonFile::create(path);
  if (!file) return tl::unexpected(file.error());
  auto& json = (*file)->json();
  json.StartObject();
  put(json, "schema_version", 1);
  put(json, "fatal", report->fatal);
  put(json, "dropped", report->dropped);
  put(json, "scopes_unfinished", report->unfinished);
  put_key(json, "culprit");
  if (run.outcome() && run.outcome()->error && run.outcome()->error->culprit) {
    const Culprit& culprit = *run.outcome()->error->culprit;
    json.StartObject();
    put(json, "scope", culprit.scope);
    put(json, "ring", culprit.ring);
    put(json, "resource", culprit.resource);
    put(json, "used", culprit.used);
    put(json, "capacity", culprit.capacity);
    put(json, "setting", culprit.setting);
    json.EndObject();
  } else {
    json.Null();
  }
  put(json, "smallest_settings", report->smallest_settings());
  put_key(json, "sites");
  json.StartArray();
  for (const auto& site : report->sites) {
    (*file)->line_break();
    put_site(json, site);
  }
  json.EndArray();
  put_key(json, "resources");
  json.StartArray();
  for (const auto& use : report->resources) {
    (*file)->line_break();
    put_use(json, use);
  }
  json.EndArray();
  put_events(**file, run);
  json.EndObject();
  return (*file)->finish();
}

}  // namespace tidemark
