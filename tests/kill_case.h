// SPDX-License-Identifier: Apache-2.0
// One case of the kill campaign: which run is started and when which of its processes dies.
// Everything follows from the seed but the instant the signal really arrives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/schema/stream_id.h"

namespace tidemark {

enum class KillMode { kDevice, kHost, kRecover };
std::string_view to_text(KillMode mode);

enum class KillMoment {
  kSetUp,     // within the first milliseconds
  kRunning,   // while records are written: such a kill always hits
  kTearDown,  // the run is so short that it ends around the kill
  kCall,      // at a chosen system call of the host's main thread, in a short run
};
inline constexpr std::uint32_t kKillMomentCount = 4;
std::string_view to_text(KillMoment moment);

// Where a recovery is killed, measured by one that ran through.
struct RecoverKill {
  enum class Where {
    kTime,       // after so many thousandths of its time
    kCall,       // after so many thousandths of its system call stops
    kLastCalls,  // so many system call stops before its end
  };
  Where where = Where::kTime;
  std::uint64_t amount = 0;
};

struct KillCase {
  KillMode mode = KillMode::kDevice;
  std::uint64_t seed = 0;

  std::string platform;
  Overflow record_policy = Overflow::kWait;
  Overflow frame_policy = Overflow::kWait;
  std::uint32_t lanes = 1;
  std::uint32_t record_bytes = 32;
  std::uint32_t page_bytes = 4096;
  std::uint32_t pool_pages_per_lane = 0;  // 0: the default pool
  std::uint32_t keep_pages = 8;
  std::uint32_t drain_threads = 1;
  std::uint64_t frame_bytes = 0;
  std::uint64_t rate = 0;     // 0: max
  std::uint64_t records = 0;  // per lane; 0: until the kill

  KillMoment moment = KillMoment::kRunning;
  std::uint64_t delay_us = 0;  // after the start (kSetUp), or after there is a run to find
  std::uint64_t part = 0;      // kCall: thousandths of the system calls of a run that is not killed
  std::vector<RecoverKill> recover_kills;  // mode recover, one after the other
  bool recover_at_once = false;            // while processes of the run may still be there

  [[nodiscard]] std::uint32_t payload_bytes() const { return page_bytes - 128; }
};

KillCase make_case(KillMode mode, std::uint64_t seed);

// The command line of the run.
std::vector<std::string> run_arguments(const KillCase& the_case, const std::string& tidemark,
                                       const std::string& directory, const std::string& counts);

}  // namespace tidemark
