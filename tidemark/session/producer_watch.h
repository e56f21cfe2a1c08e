// SPDX-License-Identifier: Apache-2.0
// Decides whether the producers of a recording still go on. Only that nothing is heard of any of
// them is judged, by the host's clock; who waits for a page of the recorder is not blamed, and time
// in which nobody looked is charged to nobody.
#pragma once

#include <cstdint>
#include <vector>

#include "tidemark/base/watched_time.h"
#include "tidemark/run/hang_state.h"
#include "tidemark/session/recording.h"

namespace tidemark {

class ProducerWatch {
 public:
  explicit ProducerWatch(const FinishLimits& limits);

  // How long to wait until the next look.
  [[nodiscard]] std::uint32_t pause_ms() const { return pause_ms_; }
  // True: a limit is exceeded, and the state says so in words. At the first look time begins.
  bool look(HangState& state, std::uint64_t now_ns);

 private:
  bool moves(const HangState& state);

  FinishLimits limits_;
  std::uint32_t pause_ms_;
  WatchedTime time_;
  std::uint64_t moved_ns_ = 0;
  std::vector<ProducerState> seen_;
  std::uint64_t ended_ = 0;
};

}  // namespace tidemark
