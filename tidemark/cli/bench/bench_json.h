// SPDX-License-Identifier: Apache-2.0
// What every bench says first in its JSON object, and how its figures are rounded.
#pragma once

#include <cmath>
#include <string_view>

#include "tidemark/cli/bench/bench_options.h"
#include "tidemark/session/json.h"

namespace tidemark::cli {

inline double rounded(double value) { return std::round(value * 1000) / 1000; }

// The object is open afterwards.
inline void begin_bench(JsonWriter& json, std::string_view bench, const BenchOptions& options) {
  json.SetIndent(' ', 2);
  json.StartObject();
  put(json, "bench", bench);
  put(json, "platform", options.platform);
  put(json, "sink", options.sink);
  put(json, "lanes", options.lanes);
  put(json, "record_bytes", options.record_bytes);
  put(json, "drain_threads", options.drain_threads);
  put(json, "rounds", options.rounds);
}

// Of the round in the middle, also where they decide what limits.
inline void put_shares(JsonWriter& json, const EndToEnd& typical) {
  put(json, "stall_share", rounded(typical.stall_share));
  put(json, "drain_busy_share", rounded(typical.drain_busy_share));
  put(json, "sink_share", rounded(typical.sink_share));
}

}  // namespace tidemark::cli
