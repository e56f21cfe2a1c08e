// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/bare_index.h"

#include "tidemark/run/json_fields.h"

namespace tidemark {

std::string to_json(const BareIndex& index) {
  return json_text([&](CompactJsonWriter& json) {
    put(json, "format", "tidemark-tiles");
    put(json, "version", 1);
    put(json, "generation", 0);
    put(json, "live", index.live);
    if (!index.pending.empty()) put(json, "pending", index.pending);
    if (!index.error.empty()) put(json, "error", plain_text(index.error));
    if (index.report == nullptr) return;
    put(json, "title", run_title(*index.report));
    put_key(json, "run");
    const std::string report = to_json(*index.report);
    json.RawValue(report.data(), report.size(), rapidjson::kObjectType);
  });
}

std::string run_title(const RunReport& report) {
  return fmt::format("{}{}{} on {}", report.workload, report.case_name.empty() ? "" : " ",
                     report.case_name, report.platform);
}

}  // namespace tidemark
