// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/host_watchdog.h"

#include <algorithm>
#include <cstring>

#include "tidemark/runtime/runtime_status.h"
#include "tidemark/schema/unit_state.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kStandstillMinMs = 200;

bool is(const UnitImage& unit, UnitState state) { return unit.state == state; }

}  // namespace

std::vector<UnitImage> read_unit_lines(const RegionPort& port, const RegionLayout& layout,
                                       const UnitCounts& units) {
  std::vector<UnitImage> lines;
  if (layout.shape.status_bytes < kUnitLinesOffset) return lines;
  const std::uint64_t room = (layout.shape.status_bytes - kUnitLinesOffset) / sizeof(UnitProgress);
  for (std::uint32_t unit = 0; unit < units.total() && unit < room; ++unit) {
    UnitImage& image = lines.emplace_back();
    // pairs with [unit state], [wait begun] and [wait ended]
    port.read(layout.status_offset + kUnitLinesOffset + unit * sizeof(UnitProgress), &image,
              sizeof(image));
  }
  return lines;
}

HostWatchdog::HostWatchdog(const RegionPort* port, const RegionLayout& layout, UnitCounts units,
                           std::uint64_t limit_ms)
    : port_(port), layout_(layout), units_(units), limit_ms_(limit_ms) {}

void HostWatchdog::read_units(std::uint64_t now_ns) {
  const std::vector<UnitImage> lines = read_unit_lines(*port_, layout_, units_);
  if (seen_.empty()) seen_.resize(lines.size(), {.image = {}, .moved_ns = now_ns});
  for (std::size_t i = 0; i < lines.size() && i < seen_.size(); ++i) {
    const bool moved = std::memcmp(&lines[i], &seen_[i].image, sizeof(UnitImage)) != 0;
    // A unit that waits for the recorder does not move, through no fault of its own; how long it
    // may do so is the drain timeout's to say.
    if (moved || lines[i].recorder_waiting != 0) seen_[i] = {lines[i], now_ns};
  }
  const std::uint64_t status = layout_.status_offset;
  const std::uint64_t counts[3] = {
      // alone: figures; only whether they change counts
      port_->load(status + offsetof(RuntimeStatus, submitted)),
      port_->load(status + offsetof(RuntimeStatus, scopes)),
      port_->load(status + offsetof(RuntimeStatus, completed_at_once))};
  if (counts_moved_ns_ == 0 || std::memcmp(counts, counts_, sizeof(counts)) != 0) {
    std::memcpy(counts_, counts, sizeof(counts));
    counts_moved_ns_ = now_ns;
  }
}

std::uint64_t HostWatchdog::still_ms(std::uint32_t unit, std::uint64_t now_ns) const {
  return unit < seen_.size() ? (now_ns - seen_[unit].moved_ns) / 1'000'000 : 0;
}

std::optional<std::uint64_t> HostWatchdog::latched_ms(std::uint64_t now_ns) {
  if (layout_.shape.status_bytes < sizeof(RuntimeStatus)) return std::nullopt;
  // pairs with [error latched]
  const std::uint32_t code =
      port_->load32(layout_.status_offset + offsetof(RuntimeStatus, error.code));
  if (code == 0) return std::nullopt;
  if (latched_ns_ == 0) latched_ns_ = now_ns;
  return (now_ns - latched_ns_) / 1'000'000;
}

// The schedulers left, so everything is complete; all that is left to do is to close lanes.
std::optional<std::uint32_t> HostWatchdog::stays_behind(std::uint64_t now_ns) const {
  std::optional<std::uint32_t> behind;
  for (std::uint32_t unit = 0; unit < seen_.size(); ++unit) {
    const bool left = is(seen_[unit].image, UnitState::kLeft);
    const bool is_scheduler = unit >= 1 && unit <= units_.schedulers;
    if (still_ms(unit, now_ns) <= limit_ms_ || (is_scheduler && !left)) return std::nullopt;
    if (!left && !behind) behind = unit;
  }
  return behind ? behind : std::optional<std::uint32_t>(0);  // or the process itself does not end
}

// How long none of those that did not leave has moved. Schedulers move whenever the device does.
std::uint64_t HostWatchdog::standstill_ms(std::uint64_t now_ns) const {
  bool schedules = false;
  std::uint64_t least_ms = ~std::uint64_t{0};
  for (std::uint32_t unit = 0; unit < seen_.size(); ++unit) {
    if (is(seen_[unit].image, UnitState::kLeft)) continue;
    schedules = schedules || (unit >= 1 && unit <= units_.schedulers);
    least_ms = std::min(least_ms, still_ms(unit, now_ns));
  }
  return schedules ? least_ms : 0;
}

std::optional<HangFinding> HostWatchdog::look(std::uint64_t now_ns) {
  const auto finding = find(now_ns);
  const std::uint64_t still = finding && standstill_ms_ > 0 ? standstill_ms(now_ns) : 0;
  if (still >= kStandstillMinMs && still < standstill_ms_) return std::nullopt;
  return finding;
}

std::optional<HangFinding> HostWatchdog::find(std::uint64_t now_ns) {
  if (limit_ms_ == 0 || layout_.shape.status_bytes < sizeof(RuntimeStatus)) return std::nullopt;
  read_units(now_ns);
  // A scheduler counts its rounds also while it has nothing to do.
  for (std::uint32_t i = 0; i < units_.schedulers; ++i) {
    const std::uint32_t unit = units_.scheduler(i);
    if (unit < seen_.size() && is(seen_[unit].image, UnitState::kBusy) &&
        still_ms(unit, now_ns) > limit_ms_)
      return HangFinding{HangClass::kReadyAllIdle, unit, still_ms(unit, now_ns)};
  }
  bool core_works = false;
  for (std::uint32_t core = 0; core < units_.cores; ++core) {
    const std::uint32_t unit = units_.core(core);
    if (unit >= seen_.size()) break;
    const UnitImage& line = seen_[unit].image;
    if (!is(line, UnitState::kBusy) && !is(line, UnitState::kCopying)) continue;
    core_works = true;
    // Its scheduler has the same limit for the kernel and should have spoken long ago.
    if (still_ms(unit, now_ns) > limit_ms_ + limit_ms_ / 2)
      return HangFinding{HangClass::kRunningStalled, unit, still_ms(unit, now_ns)};
  }
  if (core_works || seen_.empty()) return std::nullopt;
  if (const auto unit = stays_behind(now_ns))
    return HangFinding{HangClass::kRecorderStalled, *unit, still_ms(*unit, now_ns)};
  const bool done =  // pairs with [graph built]
      port_->load32(layout_.status_offset + offsetof(RuntimeStatus, orchestration_done)) != 0;
  const UnitImage& orchestrator = seen_[0].image;
  if (!done && (is(orchestrator, UnitState::kBusy) || is(orchestrator, UnitState::kNotStarted)) &&
      still_ms(0, now_ns) > limit_ms_ && (now_ns - counts_moved_ns_) / 1'000'000 > limit_ms_)
    return HangFinding{HangClass::kOrchestratorStalled, 0, still_ms(0, now_ns)};
  return std::nullopt;
}

}  // namespace tidemark
