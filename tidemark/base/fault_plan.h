// SPDX-License-Identifier: Apache-2.0
// What happens at a fault point, in this process. Nothing is armed in an ordinary run: reaching a
// point costs one branch, and the points are where pages turn, not where records are written.
#pragma once

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "tidemark/base/fault_point.h"

namespace tidemark {

enum class FaultAction : std::uint32_t {
  kNone,
  kCrash,  // a signal, as from a bad address
  kKill,   // SIGKILL
  kHang,   // the thread never goes on
  kStop,   // SIGSTOP: the process goes on when somebody continues it
};

// What a plan came to, in memory that outlives its process: a test counts faults by it, never by
// exit codes.
struct FaultTally {
  std::atomic<std::uint64_t> reached[kFaultPointCount];
  std::atomic<std::uint64_t> fired;    // stored just before the fault acts
  std::atomic<std::uint64_t> refused;  // chunks for which the capture found no space
};

class FaultPlan {
 public:
  // Before any thread that could come to the point.
  void arm(FaultPoint point, FaultAction action, std::uint64_t count) {
    point_ = point;
    action_ = action;
    left_ = count;
    armed_ = action != FaultAction::kNone || tally_ != nullptr;
  }
  // From now on every point is counted there, whether or not a fault is armed.
  void tell(FaultTally* tally) {
    tally_ = tally;
    armed_ = true;
  }
  [[nodiscard]] bool armed() const { return armed_; }
  void note_refusal() {
    if (tally_ != nullptr) tally_->refused.fetch_add(1);
  }
  // This process is the device: its points count here, and the host's do not.
  void enter_device() { in_device_ = true; }
  // The count-th time the point is reached, by whichever thread, it happens.
  void reach(FaultPoint point) {
    const bool of_device = point < FaultPoint::kDrain;
    if (of_device != in_device_) return;
    if (tally_ != nullptr) tally_->reached[static_cast<std::uint32_t>(point)].fetch_add(1);
    if (action_ != FaultAction::kNone && point == point_ && left_.fetch_sub(1) == 1) happen();
  }

 private:
  void happen() const {
    if (tally_ != nullptr) tally_->fired.fetch_add(1);
    if (action_ == FaultAction::kCrash) ::raise(SIGSEGV);
    if (action_ == FaultAction::kKill) ::kill(::getpid(), SIGKILL);
    if (action_ == FaultAction::kStop) ::kill(::getpid(), SIGSTOP);
    const timespec hour{.tv_sec = 3600, .tv_nsec = 0};
    while (action_ == FaultAction::kHang) ::nanosleep(&hour, nullptr);
  }

  FaultPoint point_ = FaultPoint::kPageSwitch;
  FaultAction action_ = FaultAction::kNone;
  bool armed_ = false;
  bool in_device_ = false;
  std::atomic<std::uint64_t> left_{0};
  FaultTally* tally_ = nullptr;
};

// Of this process; a process that is forked takes it over.
inline FaultPlan fault_plan;

inline void fault_point(FaultPoint point) {
  if (fault_plan.armed()) [[unlikely]]
    fault_plan.reach(point);
}

}  // namespace tidemark
