// SPDX-License-Identifier: Apache-2.0
// doc/scopes: what the scopes held, how close each resource came to its limit, and which settings
// would have been enough.
#include "tidemark/analyze/scope_fields.h"
#include "tidemark/run/identity_json.h"
#include "tidemark/schema/resource.h"
#include "tidemark/tiles/analysed_run.h"

namespace tidemark {
namespace {

void put_config(FieldWriter<CompactJsonWriter>& v, const RuntimeConfig& config) {
  v.object("config", [&](auto& of) {
    of.list("rings", config.rings, [](auto& ring, const RingSizes& sizes, std::size_t index) {
      ring("ring", index);
      TM_FIELDS(ring, sizes, task_window, heap_bytes, dep_pool);
      ring("args_bytes", args_bytes_of(sizes));
    });
    of("tensormap_entries", config.tensormap_entries);
  });
}

// Which counter tracks show how full something is, with the line of its capacity.
void put_counters(FieldWriter<CompactJsonWriter>& v, const TrackList& tracks,
                  const RuntimeConfig& config) {
  struct Counter {
    TrackNumber track;
    Resource resource;
    std::uint32_t ring;
    std::uint64_t capacity;
  };
  std::vector<Counter> counters;
  for (TrackNumber i = 0; i < tracks.tracks.size(); ++i) {
    const Track& track = tracks.tracks[i];
    if (track.kind != TrackKind::kCounter || track.ring >= kRingCount) continue;
    const RingSizes& ring = config.rings[track.ring];
    if (track.sample == SampleKind::kLiveTasks)
      counters.push_back({i, Resource::kTaskWindow, track.ring, ring.task_window});
    if (track.sample == SampleKind::kHeapBytes)
      counters.push_back({i, Resource::kHeap, track.ring, ring.heap_bytes});
  }
  v.list("counters", counters, [](auto& of, const Counter& counter, std::size_t) {
    of("track", counter.track);
    of("resource", to_text(counter.resource));
    of("ring", counter.ring);
    of("capacity", counter.capacity);
  });
}

}  // namespace

Expected<void> put_scopes(const AnalysedRun& analysed, DocumentSink& sink) {
  const ScopeReport& report = *analysed.scopes;
  return sink.put_object("doc/scopes", kNsDecimals, [&](CompactJsonWriter& json) {
    FieldWriter v(json);
    TM_FIELDS(v, report, fatal, dropped, boundaries, unfinished);
    const RunError* error = analysed.error();
    v("culprit", error == nullptr ? std::nullopt : error->culprit);
    put_config(v, report.config);
    v.list("resources", report.resources, [](auto& of, const ResourceUse& use, std::size_t) {
      use_fields(of, use);
      if (!use.has_ring) of("ring", nullptr);
      TM_FIELDS(of, use, flag, needed);
    });
    v.list("sites", report.sites, [](auto& of, const ScopeSite& site, std::size_t) {
      site_fields(of, site);
      of("parent", site.parent);
      of.object("peaks", [&](auto& peaks) { peak_fields(peaks, site.peaks); });
    });
    v("smallest_settings", report.smallest_settings());
    put_counters(v, analysed.tracks, report.config);
  });
}

}  // namespace tidemark
