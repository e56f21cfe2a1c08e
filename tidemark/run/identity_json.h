// SPDX-License-Identifier: Apache-2.0
// What run.json and the capture both say: which run this is, how it ended, and how its clock
// relates to the host's.
#pragma once

#include <vector>

#include "tidemark/run/json.h"
#include "tidemark/run/run_report.h"

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
void put_error(Writer& json, const RunError& error) {
  json.StartObject();
  put(json, "code", error.code);
  put(json, "name", error.name);
  put(json, "class", error.error_class);
  put(json, "message", error.message);
  put(json, "hint", error.hint);
  if (error.culprit) {
    put(json, "scope", error.culprit->scope);
    put(json, "ring", error.culprit->ring);
    put(json, "resource", error.culprit->resource);
    put(json, "used", error.culprit->used);
    put(json, "capacity", error.culprit->capacity);
    put(json, "setting", error.culprit->setting);
  }
  json.EndObject();
}

inline RunError read_error(const rapidjson::Value& object) {
  RunError error{.code = static_cast<std::uint32_t>(get_u64(object, "code")),
                 .name = get_text(object, "name"),
                 .error_class = get_text(object, "class"),
                 .message = get_text(object, "message"),
                 .hint = get_text(object, "hint")};
  if (get_member(object, "setting") != nullptr)
    error.culprit = Culprit{.scope = get_text(object, "scope"),
                            .ring = static_cast<std::uint32_t>(get_u64(object, "ring")),
                            .resource = get_text(object, "resource"),
                            .used = get_u64(object, "used"),
                            .capacity = get_u64(object, "capacity"),
                            .setting = get_text(object, "setting")};
  return error;
}

template <class Writer>
void put_ending(Writer& json, const RunReport& run) {
  put(json, "status", run.status);
  put_key(json, "error");
  if (run.error)
    put_error(json, *run.error);
  else
    json.Null();
  put_key(json, "tasks");
  json.StartObject();
  put(json, "submitted", run.tasks_submitted);
  put(json, "completed", run.tasks_completed);
  json.EndObject();
  put(json, "scopes", run.scopes);
}

inline void read_ending(const rapidjson::Value& object, RunReport& run) {
  run.status = get_text(object, "status");
  if (const auto* error = get_member(object, "error"); error != nullptr && error->IsObject())
    run.error = read_error(*error);
  if (const auto* tasks = get_member(object, "tasks"); tasks != nullptr) {
    run.tasks_submitted = get_u64(*tasks, "submitted");
    run.tasks_completed = get_u64(*tasks, "completed");
  }
  run.scopes = get_u64(object, "scopes");
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
