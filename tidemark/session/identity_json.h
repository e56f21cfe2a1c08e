// SPDX-License-Identifier: Apache-2.0
// What run.json and the capture's description both say: which run this is, and how its clock
// relates to the host's.
#pragma once

#include <vector>

#include "tidemark/session/json.h"
#include "tidemark/session/run_report.h"

namespace tidemark {

template <class Writer>
void put_what_ran(Writer& json, const RunReport& run) {
  put(json, "run_id", run_id_text(run.run_id));
  put(json, "workload", run.workload);
  put(json, "case", run.case_name);
  put(json, "platform", run.platform);
  put(json, "runtime", run.runtime);
  put(json, "transport", run.transport);
  put(json, "seed", run.seed);
}

inline void read_what_ran(const rapidjson::Value& object, RunReport& run) {
  run.workload = get_text(object, "workload");
  run.case_name = get_text(object, "case");
  run.platform = get_text(object, "platform");
  run.runtime = get_text(object, "runtime");
  run.transport = get_text(object, "transport");
  run.seed = get_u64(object, "seed");
  run.rank = static_cast<std::uint32_t>(get_u64(object, "rank"));
  run.device = static_cast<std::uint32_t>(get_u64(object, "device"));
  run.host_id = get_text(object, "host_id");
}

template <class Writer>
void put_place(Writer& json, const RunReport& run) {
  put(json, "rank", run.rank);
  put(json, "device", run.device);
  put(json, "host_id", run.host_id);
}

template <class Writer>
void put_anchors(Writer& json, const std::vector<ClockSample>& anchors) {
  put_key(json, "anchors");
  json.StartArray();
  for (const auto& anchor : anchors) {
    json.StartObject();
    put(json, "device_ticks", fmt::format("{}", anchor.device_ticks));
    put(json, "host_ns", fmt::format("{}", anchor.host_ns));
    put(json, "real_ns", fmt::format("{}", anchor.real_ns));
    put(json, "uncertainty_ns", anchor.uncertainty_ns);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace tidemark
