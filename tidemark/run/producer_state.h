// SPDX-License-Identifier: Apache-2.0
// A producer of a recording as it was found when somebody asked: what it said it was at, and its
// last record. Read from the region (session/read_producers.h), kept in the capture with the state
// of a run that was stopped, put into words by run/producer_text.h.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/transport/lane.h"

namespace tidemark {

struct ProducerState {
  LaneIndex lane = 0;
  std::string producer;  // as its lane was planned
  std::string stream;
  LaneState state = LaneState::kUnopened;
  bool waits_for_page = false;  // of the recorder
  // What it said: empty if nothing.
  std::string at;
  bool waits = false;  // for it, instead of doing it
  std::uint64_t number = 0;
  std::uint64_t since_ticks = 0;  // what it said; if it said nothing, the launch
  std::uint64_t place = 0;        // transport/at_line.h; 0: not known
  std::uint64_t records = 0;      // attempted so far
  // The last one that is still in its open page; a text of it, empty if there is none.
  std::uint64_t record_number = 0;
  std::uint64_t record_ticks = 0;
  std::string record;
  // File and line at which it stands, where a core dump of the device tells it; else empty.
  std::string source;

  [[nodiscard]] bool has_begun() const { return state == LaneState::kOpen; }
  // Since when nothing is heard of it. The times of records are the user's and may be any.
  [[nodiscard]] std::uint64_t still_since_ticks(std::uint64_t now_ticks) const {
    return record_ticks > since_ticks && record_ticks <= now_ticks ? record_ticks : since_ticks;
  }
};

}  // namespace tidemark
