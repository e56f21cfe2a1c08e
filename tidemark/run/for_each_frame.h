// SPDX-License-Identifier: Apache-2.0
// The frames of a framed lane, put together from their fragments. A frame of which a fragment is
// missing is passed over; 'tidemark check' is what reports it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tidemark/run/run_capture.h"

namespace tidemark {

// fn(number, bytes) for every whole frame, in order. The bytes are valid during the call.
template <class Fn>
void for_each_frame(RunCapture& run, LaneIndex lane, const Fn& fn) {
  std::vector<unsigned char> frame;
  std::uint64_t number = 0;
  bool whole_so_far = false;
  run.for_each_fragment_of(lane, [&](const Fragment& fragment, std::uint32_t, std::uint64_t) {
    if (fragment.first) {
      frame.clear();
      number = fragment.frame_number;
      whole_so_far = true;
    }
    whole_so_far =
        whole_so_far && fragment.frame_number == number && fragment.offset == frame.size();
    if (!whole_so_far) return;
    frame.insert(frame.end(), fragment.bytes.begin(), fragment.bytes.end());
    if (!fragment.last) return;
    if (frame.size() == fragment.total_bytes) fn(number, std::span<const unsigned char>(frame));
    whole_so_far = false;
  });
}

}  // namespace tidemark
