// SPDX-License-Identifier: Apache-2.0
// The producers of a recording in words: who stopped, where, and since when.
#pragma once

#include <string>
#include <vector>

#include "tidemark/run/hang_state.h"

namespace tidemark {

// Those of which nothing was heard for a second (or half of the run's limit, if that is shorter).
// First who is at something, then who waits for something, then who said nothing; each group
// longest first: who waits is seldom the one to blame.
std::vector<const ProducerState*> stopped_producers(const HangState& state);

// "at `compute` 17", "waiting for `room` 21"; empty: it said nothing.
std::string doing_text(const ProducerState& producer);
// " on SM 17 (block 5, warp 1)"; empty where nothing is known.
std::string place_text(const ProducerState& producer);
// Since it said what it is at; if it said nothing, since nothing was heard of it.
std::uint64_t ns_at(const HangState& state, const ProducerState& producer);

// "CTA 5 compute has been at `compute` 17 for 2.1 s; 2 others stopped: CTA 5 load waits for `room`
// 21, CTA 5 store waits for `computed` 17". Empty: none has stopped.
std::string producers_sentence(const HangState& state);
// One producer, everything about it.
std::string producer_line(const HangState& state, const ProducerState& producer);
// How many go on, have ended, or never began.
std::string other_producers_text(const HangState& state);

}  // namespace tidemark
