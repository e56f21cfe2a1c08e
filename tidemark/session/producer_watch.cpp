// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/producer_watch.h"

#include <algorithm>

#include "tidemark/run/producer_text.h"
#include "tidemark/schema/error_code.h"

namespace tidemark {
namespace {

constexpr std::uint32_t kLooksPerLimit = 8;
constexpr std::uint32_t kPauseMinMs = 5;
constexpr std::uint32_t kPauseMaxMs = 1000;

std::uint32_t pause_of(const FinishLimits& limits) {
  std::uint32_t shortest = kPauseMaxMs * kLooksPerLimit;
  for (const std::uint32_t limit : {limits.still_ms, limits.total_ms})
    if (limit != 0) shortest = std::min(shortest, limit);
  return std::clamp(shortest / kLooksPerLimit, kPauseMinMs, kPauseMaxMs);
}

bool is_same(const ProducerState& a, const ProducerState& b) {
  return a.lane == b.lane && a.state == b.state && a.since_ticks == b.since_ticks &&
         a.number == b.number && a.records == b.records && !a.waits_for_page;
}

}  // namespace

ProducerWatch::ProducerWatch(const FinishLimits& limits)
    : limits_(limits),
      pause_ms_(pause_of(limits)),
      time_(std::uint64_t{pause_ms_} * 4 * 1'000'000) {}

bool ProducerWatch::moves(const HangState& state) {
  const bool same =
      ended_ == state.producers_ended && std::ranges::equal(state.producers, seen_, is_same);
  seen_ = state.producers;
  ended_ = state.producers_ended;
  return !same;
}

bool ProducerWatch::look(HangState& state, std::uint64_t now_ns) {
  const std::uint64_t watched_ns = time_.look(now_ns);
  if (moves(state)) moved_ns_ = watched_ns;
  const auto exceeds = [](std::uint64_t ns, std::uint32_t limit_ms) {
    return limit_ms != 0 && ns / 1'000'000 >= limit_ms;
  };
  const bool still = exceeds(watched_ns - moved_ns_, limits_.still_ms);
  if (!still && !exceeds(watched_ns, limits_.total_ms)) return false;
  state.limit_ms = still ? limits_.still_ms : limits_.total_ms;
  const auto code = still ? ErrorCode::kProducersStopped : ErrorCode::kOpTimeout;
  state.code = static_cast<std::uint32_t>(code);
  state.name = to_text(code);
  state.hang = HangClass::kProducersStopped;
  state.error_class = to_text(state.hang);
  state.message = still ? fmt::format("nothing was heard of any producer for {} ms", state.limit_ms)
                        : fmt::format("the producers did not end within {} ms", state.limit_ms);
  const std::string sentence = producers_sentence(state);
  state.message += "; " + (sentence.empty() ? other_producers_text(state) : sentence);
  return true;
}

}  // namespace tidemark
