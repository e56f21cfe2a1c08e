// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/tile_index.h"

#include "tidemark/run/json_fields.h"
#include "tidemark/run/run_report.h"

namespace tidemark {
namespace {

// A capture has what is known of a run whose run.json is not there.
RunReport report_of(const RunCapture& run) {
  if (auto report = read_run_report(run.directory())) return *std::move(report);
  RunReport report = run.outcome() ? *run.outcome() : run.description().run;
  const RunReport& identity = run.description().run;
  report.run_id = identity.run_id;
  report.workload = identity.workload;
  report.case_name = identity.case_name;
  report.platform = identity.platform;
  return report;
}

std::string title_of(const RunReport& report) {
  std::string title = report.workload.empty() ? "run" : report.workload;
  if (!report.case_name.empty()) title += " " + report.case_name;
  return report.platform.empty() ? title : title + " on " + report.platform;
}

void put_track(CompactJsonWriter& json, TrackNumber number, const Track& track,
               const TrackTotals& totals) {
  put(json, "id", number);
  put(json, "kind", to_text(track.kind));
  put(json, "name", track.name);
  put(json, "unit", track.unit);
  if (track.core_type) put(json, "core_type", to_text(*track.core_type));
  put(json, "values", track.has_samples() ? "samples" : "spans");
  put(json, "count", totals.count);
  put(json, "rows", totals.rows);
  if (track.parent == kNoTrack)
    put(json, "parent", nullptr);
  else
    put(json, "parent", track.parent);
  put(json, "unit_of_value", track.unit_of_value);
}

void put_tracks(CompactJsonWriter& json, const TileIndex& index) {
  put_key(json, "tracks");
  json.StartArray();
  for (const TrackNumber number : index.list.shown) {
    const Track& track = index.list.tracks[number];
    // Rings that were never used would be empty rows.
    if (track.has_samples() && index.totals[number].count == 0) continue;
    put_object(json, [&] { put_track(json, number, track, index.totals[number]); });
  }
  json.EndArray();
}

void put_names(CompactJsonWriter& json, const TileIndex& index) {
  for (const bool kinds : {false, true}) {
    put_key(json, kinds ? "name_kinds" : "names");
    json.StartArray();
    for (const auto& name : index.names)
      put_text(json, kinds ? name.kind : std::string_view(name.text));
    json.EndArray();
  }
}

void put_missing(CompactJsonWriter& json, const LaneCounts& counts) {
  put_object(json, "missing", [&] {
    put(json, "produced", counts.produced);
    put(json, "delivered", counts.delivered);
    put(json, "recovered", counts.recovered);
    put(json, "dropped", counts.dropped);
    put(json, "overwritten", counts.overwritten);
    put(json, "unaccounted", counts.unaccounted());
  });
}

}  // namespace

std::string index_json(const RunCapture& run, const TileIndex& index) {
  const RunReport report = report_of(run);
  const std::string run_json = to_json(report);
  return json_text([&](CompactJsonWriter& json) {
    put(json, "format", "tidemark-tiles");
    put(json, "version", 1);
    put_key(json, "run");
    json.RawValue(run_json.data(), run_json.size(), rapidjson::kObjectType);
    put(json, "title", title_of(report));
    put(json, "ticks_per_second", index.list.ticks_per_second);
    put(json, "launch", index.list.launch);
    put(json, "end", index.end);
    put(json, "level_count", index.grid.level_count);
    put(json, "shift", index.grid.shift);
    put_names(json, index);
    put_tracks(json, index);
    put(json, "counters_left_out", index.list.counters_left_out);
    put(json, "documents", index.documents.names);
    put(json, "tasks", index.documents.tasks);
    put(json, "tensors", index.documents.tensors);
    put(json, "kept_payloads", index.documents.kept_payloads);
    put(json, "payload_note", index.documents.payload_note);
    put_object(json, "progress", [&] {
      put(json, "complete", !index.sketch_only);
      put(json, "records_done", index.records_done);
      put(json, "records", index.records);
      put(json, "sketch_only", index.sketch_only);
    });
    put_missing(json, index.counts);
  });
}

}  // namespace tidemark
