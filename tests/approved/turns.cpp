// SPDX-License-Identifier: Apache-2.0
#include "tests/approved/turns.h"

#include <algorithm>

#include "tidemark/base/mix.h"

namespace tidemark::approved {

void Turns::enter(std::uint32_t unit) {
  std::unique_lock lock(mutex_);
  units_[unit].turn.wait(lock, [&] { return current_ == unit; });
}

void Turns::leave(std::uint32_t unit) {
  const std::lock_guard lock(mutex_);
  if (units_[unit].left) return;
  units_[unit].left = true;
  if (current_ == unit) choose_next(unit);
}

void Turns::yield(std::uint32_t unit) { hand_over(unit, 0, nullptr); }

void Turns::sleep(std::uint32_t unit, std::uint64_t ns) { hand_over(unit, now_ns() + ns, nullptr); }

void Turns::sleep_on(std::uint32_t unit, const void* word, std::uint64_t ns) {
  hand_over(unit, now_ns() + ns, word);
}

void Turns::wake(const void* word) {
  const std::lock_guard lock(mutex_);
  for (auto& unit : units_)
    if (unit.word == word) unit.wakes_ns = 0;
}

std::uint64_t Turns::tick() { return clock_ns_ += kLookNs + mix(++looks_) % kLookSpreadNs; }

void Turns::hand_over(std::uint32_t unit, std::uint64_t wakes_ns, const void* word) {
  std::unique_lock lock(mutex_);
  Unit& own = units_[unit];
  own.wakes_ns = wakes_ns;
  own.word = word;
  clock_ns_ += kTurnNs;
  choose_next(unit);
  own.turn.wait(lock, [&] { return current_ == unit; });
  own.word = nullptr;
}

// The unit itself comes last.
void Turns::choose_next(std::uint32_t after) {
  std::uint64_t first_ns = ~std::uint64_t{0};
  for (const auto& unit : units_)
    if (!unit.left) first_ns = std::min(first_ns, unit.wakes_ns);
  if (first_ns == ~std::uint64_t{0}) return;  // all have left
  if (first_ns > now_ns()) clock_ns_ = first_ns;
  for (std::uint32_t step = 1; step <= kUnits; ++step) {
    const std::uint32_t next = (after + step) % kUnits;
    if (units_[next].left || units_[next].wakes_ns > now_ns()) continue;
    current_ = next;
    units_[next].turn.notify_one();
    return;
  }
}

}  // namespace tidemark::approved
