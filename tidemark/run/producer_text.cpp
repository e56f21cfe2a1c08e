// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/producer_text.h"

#include <algorithm>
#include <tuple>

#include "tidemark/base/human_text.h"
#include "tidemark/run/hang_text.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kStillNs = 1'000'000'000;
constexpr std::size_t kOthersMax = 3;
constexpr std::size_t kProducerNamesMax = 4;

std::string for_text(std::uint64_t ns) {
  return ns < 1'000'000'000 ? fmt::format("{:.0f} ms", static_cast<double>(ns) / 1e6)
                            : fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9);
}

std::string at_text(const ProducerState& producer) {
  return fmt::format("`{}` {}", producer.at, producer.number);
}

// "waits for `room` 21"
std::string does_text(const ProducerState& producer) {
  if (producer.waits_for_page) return "waits for a page of the recorder";
  if (producer.at.empty()) return "has said nothing";
  return (producer.waits ? "waits for " : "is at ") + at_text(producer);
}

// Who is at something comes before who waits, and before who says nothing.
int rank(const ProducerState& producer) {
  if (producer.waits_for_page) return 3;
  if (producer.at.empty()) return 2;
  return producer.waits ? 1 : 0;
}

std::string first_text(const HangState& state, const ProducerState& producer) {
  const std::string time = for_text(ns_at(state, producer));
  const std::string source =
      producer.source.empty() ? std::string() : fmt::format(" ({})", producer.source);
  if (producer.waits_for_page)
    return fmt::format("{} has waited for a page of the recorder for {}", producer.producer, time);
  if (producer.at.empty())
    return fmt::format("nothing has been heard of {} for {}{}", producer.producer, time, source);
  if (producer.waits)
    return fmt::format("{} has waited for {} for {}{}", producer.producer, at_text(producer), time,
                       source);
  return fmt::format("{} has been at {} for {}{}", producer.producer, at_text(producer), time,
                     source);
}

}  // namespace

std::vector<const ProducerState*> stopped_producers(const HangState& state) {
  const std::uint64_t least_ns =
      state.limit_ms == 0 ? kStillNs : std::min(kStillNs, state.limit_ms * 500'000);
  std::vector<const ProducerState*> stopped;
  for (const ProducerState& producer : state.producers)
    if (producer.has_begun() &&
        ns_before(state, producer.still_since_ticks(state.detected_ticks)) >= least_ns)
      stopped.push_back(&producer);
  std::stable_sort(stopped.begin(), stopped.end(), [](const auto* a, const auto* b) {
    return std::tuple(rank(*a), a->since_ticks) < std::tuple(rank(*b), b->since_ticks);
  });
  return stopped;
}

std::string doing_text(const ProducerState& producer) {
  if (producer.at.empty()) return {};
  return (producer.waits ? "waiting for " : "at ") + at_text(producer);
}

std::string place_text(const ProducerState& producer) {
  if (producer.place == 0) return {};
  const ProducerPlace place = decode_place(producer.place);
  return fmt::format(" on SM {} (block {}, warp {})", place.multiprocessor, place.block,
                     place.warp);
}

std::uint64_t ns_at(const HangState& state, const ProducerState& producer) {
  return ns_before(state, producer.at.empty() ? producer.still_since_ticks(state.detected_ticks)
                                              : producer.since_ticks);
}

std::string producers_sentence(const HangState& state) {
  const auto stopped = stopped_producers(state);
  if (stopped.empty()) return {};
  std::string text = first_text(state, *stopped.front());
  if (stopped.size() > 1) {
    std::vector<std::string> others;
    for (std::size_t i = 1; i < stopped.size() && i <= kOthersMax; ++i)
      others.push_back(fmt::format("{} {}", stopped[i]->producer, does_text(*stopped[i])));
    text += fmt::format("; {} other{} stopped: {}{}", stopped.size() - 1,
                        stopped.size() == 2 ? "" : "s", joined(others, ", "),
                        stopped.size() - 1 > kOthersMax ? ", ..." : "");
  }
  if (stopped.front()->waits) text += "; none of them is at anything: they wait for each other";
  return text;
}

std::string producer_line(const HangState& state, const ProducerState& producer) {
  std::string text = fmt::format("{}{}: ", producer.producer, place_text(producer));
  const std::string doing = doing_text(producer);
  text += doing.empty() ? fmt::format("has said nothing, nothing heard of it for {}",
                                      for_text(ns_at(state, producer)))
                        : fmt::format("{} for {}", doing, for_text(ns_at(state, producer)));
  if (!producer.source.empty()) text += fmt::format(", {}", producer.source);
  if (producer.waits_for_page) text += ", waiting for a page of the recorder";
  if (producer.records == 0) return text + "; no record yet";
  text += fmt::format("; {} record{}", producer.records, producer.records == 1 ? "" : "s");
  if (producer.record.empty()) return text;
  text += fmt::format(", the last: {}", producer.record);
  if (producer.record_ticks != 0)
    text += fmt::format(", {} before", for_text(ns_before(state, producer.record_ticks)));
  return text;
}

std::string other_producers_text(const HangState& state) {
  const std::size_t stopped = stopped_producers(state).size();
  std::size_t begun = 0;
  std::vector<std::string> absent;
  std::size_t absent_count = 0;
  for (const ProducerState& producer : state.producers) {
    begun += producer.has_begun();
    if (producer.has_begun()) continue;
    if (++absent_count <= kProducerNamesMax) absent.push_back(producer.producer);
  }
  std::string text = fmt::format("{} go on, {} have ended", begun - stopped, state.producers_ended);
  if (absent_count > 0)
    text += fmt::format(", {} never began ({}{})", absent_count, joined(absent, ", "),
                        absent_count > kProducerNamesMax ? ", ..." : "");
  return text;
}

}  // namespace tidemark
