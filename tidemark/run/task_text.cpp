// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/task_text.h"

#include <charconv>
#include <string_view>

#include <fmt/core.h>

#include "tidemark/schema/task_id.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {

std::string task_text(std::uint64_t task_id) {
  const TaskId task{task_id};
  const std::string lap = task.lap() == 0 ? "" : fmt::format("l{}", task.lap());
  return task.ring() == 0 ? fmt::format("t{}{}", task.local(), lap)
                          : fmt::format("r{}t{}{}", task.ring(), task.local(), lap);
}

std::optional<std::uint64_t> parse_task(const std::string& text) {
  const auto number = [](std::string_view digits, int base) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (digits.empty() || code != std::errc() || end != digits.data() + digits.size())
      return std::nullopt;
    return value;
  };
  const std::string_view all(text);
  if (all.starts_with("0x")) return number(all.substr(2), 16);
  if (!all.starts_with("r") && !all.starts_with("t")) return number(all, 10);
  std::uint64_t ring = 0;
  std::string_view rest = all;
  if (all.starts_with("r")) {
    const auto t = all.find('t');
    if (t == std::string_view::npos) return std::nullopt;
    const auto parsed = number(all.substr(1, t - 1), 10);
    if (!parsed || *parsed >= kRingCount) return std::nullopt;
    ring = *parsed;
    rest = all.substr(t);
  }
  const auto l = rest.find('l');
  const auto local = number(rest.substr(1, l == std::string_view::npos ? l : l - 1), 10);
  const auto lap = l == std::string_view::npos ? 0 : number(rest.substr(l + 1), 10);
  if (!local || *local > 0xFFFFFFFFull || !lap || *lap >> 30 != 0) return std::nullopt;
  return TaskId::make(static_cast<std::uint32_t>(ring), *lap << 32 | *local).value;
}

}  // namespace tidemark
