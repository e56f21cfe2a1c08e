// SPDX-License-Identifier: Apache-2.0
// Marks and counters of the program as a JSON list: the same in every artifact.
#pragma once

#include "tidemark/export/json_file.h"
#include "tidemark/run/run_capture.h"

namespace tidemark {

inline void put_events(JsonFile& file, RunCapture& run) {
  auto& json = file.json();
  put_key(json, "events");
  json.StartArray();
  run.for_each<UserEvent>([&](const UserEvent& event, LaneIndex lane) {
    file.line_break();
    put_object(json, [&] {
      put(json, "name", run.name_of(event.name_hash));
      put(json, "kind", to_text(event.kind));
      put(json, "time_us", run.clock().to_us(event.time_ticks));
      put(json, "value", event.value);
      put(json, "unit", event.unit);
      put(json, "lane", lane);
      put(json, "producer", run.lanes()[lane].producer);
    });
  });
  json.EndArray();
}

}  // namespace tidemark
