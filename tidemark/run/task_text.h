// SPDX-License-Identifier: Apache-2.0
// Tasks as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark {

// r1t42, or t42 on ring 0; with a lap r1t42l3.
std::string task_text(std::uint64_t task_id);
// The reverse; also a plain number or 0x…. Nothing: not a task.
std::optional<std::uint64_t> parse_task(const std::string& text);

}  // namespace tidemark
