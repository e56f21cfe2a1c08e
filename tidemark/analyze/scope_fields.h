// SPDX-License-Identifier: Apache-2.0
// What scopes held, as JSON: what scope_stats.json and the viewer's page have of it.
#pragma once

#include "tidemark/analyze/scope_report.h"
#include "tidemark/run/json_fields.h"

namespace tidemark {

void use_fields(auto& v, const ResourceUse& use) {
  v("resource", use.resource);
  if (use.has_ring) v("ring", use.ring);
  TM_FIELDS(v, use, peak, capacity);
  v("percent", use.percent());
  v("site", use.site);
}

void site_fields(auto& v, const ScopeSite& site) {
  TM_FIELDS(v, site, site, depth, ring, count, total_ns, longest_ns, percent, closest);
}

void peak_fields(auto& v, const ScopePeaks& peaks) {
  v("task_window_peak", peaks.tasks);
  v("heap_peak", peaks.heap_bytes);
  v("dep_pool_peak", peaks.deps);
  v("fanin_peak", peaks.fanin);
  v("args_peak", peaks.args_bytes);
  v("tensormap_peak", peaks.map_entries);
}

}  // namespace tidemark
