// SPDX-License-Identifier: Apache-2.0
// What run.json and the capture both say: which run this is, how it ended, and how its clock
// relates to the host's.
#pragma once

#include "tidemark/run/json_fields.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

void fields(auto& v, Of<Culprit> auto& culprit) {
  TM_FIELDS(v, culprit, scope, ring, resource, used, capacity, setting);
}

void fields(auto& v, Of<RunError> auto& error) {
  TM_FIELDS(v, error, code, name);
  v("class", error.error_class);
  TM_FIELDS(v, error, message, hint);
  v.part("setting", error.culprit);
}

void fields(auto& v, Of<IterationCounts> auto& counts) {
  TM_FIELDS(v, counts, asked, completed, first_ns, next_ns);
}

void fields(auto& v, Of<ClockSample> auto& anchor) {
  v.decimal("device_ticks", anchor.device_ticks);
  v.decimal("host_ns", anchor.host_ns);
  v.decimal("real_ns", anchor.real_ns);
  v("uncertainty_ns", anchor.uncertainty_ns);
}

// What ran, and where.
void identity_fields(auto& v, Of<RunReport> auto& run) {
  v.hex("run_id", run.run_id);
  v("workload", run.workload);
  v("case", run.case_name);
  TM_FIELDS(v, run, platform, runtime, transport, seed, rank, device, host_id);
}

template <class V>
void ending_fields(V& v, Of<RunReport> auto& run) {
  v.text("status", run.status);
  v("error", run.error);
  v.object("tasks", [&](auto& tasks) { TM_FIELDS(tasks, run.tasks, submitted, completed); });
  v("scopes", run.tasks.scopes);
  if (V::kReads || run.iterations) v("iterations", run.iterations);
}

}  // namespace tidemark
