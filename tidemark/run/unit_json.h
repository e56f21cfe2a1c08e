// SPDX-License-Identifier: Apache-2.0
// Units and rings of a runtime, as hang.json and `tidemark top --json` have them.
#pragma once

#include <optional>
#include <string>

#include "tidemark/run/hang_text.h"
#include "tidemark/run/json_fields.h"
#include "tidemark/run/task_text.h"

namespace tidemark {

// kBrief: how full they are. kWhole: also where they are.
enum class RingDetail { kBrief, kWhole };

template <class Json>
void put_rings(Json& json, const HangState& state, RingDetail detail) {
  const bool whole = detail == RingDetail::kWhole;
  put_list(json, "rings", state.rings, [&](const RingState& ring) {
    if (whole) put(json, "ring", &ring - state.rings);
    if (whole) put(json, "head", ring.head);
    if (whole) put(json, "tail", ring.tail);
    put(json, "tasks", ring.tasks());
    put(json, "task_window", ring.window);
    put(json, "heap", ring.heap_used);
    put(json, "heap_bytes", ring.heap_bytes);
    put(json, "dep_pool_used", ring.deps_used);
    if (whole) put(json, "fanin_used", ring.fanin_used);
    put(json, "dep_pool", ring.dep_pool);
  });
}

// What a core runs or ran last; null: nothing yet.
template <class Json>
void put_work(Json& json, const HangState& state, const UnitImage& line, bool has_task) {
  using Text = std::optional<std::string>;
  put(json, "task", has_task ? Text(task_text(line.task_id)) : Text());
  put(json, "kernel", has_task ? Text(kernel_text(state, line.kernel)) : Text());
}

}  // namespace tidemark
