// SPDX-License-Identifier: Apache-2.0
// Recording from a program's own threads: the same region, drainer and capture, without a device.
//
//   auto recording = tidemark::Recording::start({.output_dir = "out"}).value();
//   auto lane = recording->open_lane<tidemark::TaskSpan>("worker 0").value();
//   lane.write({.task_id = 1, .begin_ticks = begin, .end_ticks = lane.now()});
//   lane.close();
//   recording->finish();
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "tidemark/base/expected.h"
#include "tidemark/device/sim/sim_env.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/record/recorder.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/schema/user_event.h"
#include "tidemark/session/active_run.h"

namespace tidemark {

struct RecordingOptions {
  std::string output_dir;
  std::string name = "recording";
  bool force = false;
  bool sync = true;                   // finish() returns when the files are on stable storage
  std::uint32_t max_lanes = 16;       // to be opened at run time
  Overflow policy = Overflow::kWait;  // kKeepLast is not for lanes opened at run time
  // Lanes 0, 1, … that are planned already, for producers that cannot ask for one (a kernel).
  std::vector<LaneRequest> lanes;
  // Of a producer that is not a thread of this machine: its platform and the rate of its clock.
  const Platform* platform = nullptr;
  std::uint64_t ticks_per_second = 0;
  RecorderSettings recorder;
};

// How long finish() waits for producers that do not come to their end.
struct FinishLimits {
  std::uint32_t still_ms = 0;  // while nothing is heard of any producer; 0: for ever
  std::uint32_t total_ms = 0;  // in all; 0: for ever
};

// A lane of the calling program; closes itself. One thread at a time writes into it. In a child of
// a fork it is nobody's: the region is not mapped there.
template <class Writer>
class OwnedLane : public Writer {
 public:
  OwnedLane() = default;  // disabled
  OwnedLane(const RegionView* region, LaneIndex lane) : Writer(region, lane) {}
  OwnedLane(OwnedLane&& other) noexcept : Writer(other), owner_pid_(other.owner_pid_) {
    other.disown();
  }
  OwnedLane& operator=(OwnedLane&& other) noexcept {
    if (this == &other) return *this;
    close_own();
    static_cast<Writer&>(*this) = other;
    owner_pid_ = other.owner_pid_;
    other.disown();
    return *this;
  }
  OwnedLane(const OwnedLane&) = delete;
  OwnedLane& operator=(const OwnedLane&) = delete;
  ~OwnedLane() { close_own(); }

 private:
  void disown() { static_cast<Writer&>(*this) = Writer(); }
  void close_own() {
    if (owner_pid_ == ::getpid()) this->close();
  }
  int owner_pid_ = ::getpid();
};

class Recording {
 public:
  static Expected<std::unique_ptr<Recording>> start(const RecordingOptions& options);
  // Every lane must be closed; what is still open is taken as it is.
  ~Recording();

  template <TraceRecord R>
  Expected<OwnedLane<Recorder<R, SimEnv>>> open_lane(std::string_view producer) {
    return open<OwnedLane<Recorder<R, SimEnv>>>(R::kStream, R::kBytes, producer);
  }
  Expected<OwnedLane<EventRecorder<SimEnv>>> open_events(std::string_view producer) {
    return open<OwnedLane<EventRecorder<SimEnv>>>(StreamId::kEvents, UserEvent::kBytes, producer);
  }
  Expected<OwnedLane<FrameWriter<SimEnv>>> open_frames(std::string_view producer) {
    return open<OwnedLane<FrameWriter<SimEnv>>>(StreamId::kDump, 0, producer);
  }

  // The region, for a device of the caller's that is to write into it.
  [[nodiscard]] const MappedMemory& memory() const { return mapping_; }
  [[nodiscard]] const RegionView& region() const { return region_; }
  [[nodiscard]] const std::string& directory() const { return run_->directory(); }
  // What the device said before it was ended; empty: nothing.
  [[nodiscard]] std::string fault_text() const { return run_->fault_text(); }
  // A reading of that device's clock; the first is the epoch of all times.
  void note_clock(const ClockSample& sample);

  // Drains, closes the capture and writes run.json. Lanes must not be written any more. What went
  // wrong on a device of the caller's makes the run a device fault.
  Expected<RunReport> finish(const std::string& fault_text = {});
  // Waits first until every lane that was planned or opened is closed. If that does not come
  // within the limits, the run is ended as a hang: its report has exit code 3 and says in its error
  // who stopped, at what and since when; so does `tidemark hang` from then on. Producers may still
  // run; the recording must live until they have left.
  Expected<RunReport> finish(const FinishLimits& limits);
  // The same, where something else than closed lanes says that all is over: over(ms) waits for it
  // for at most so long. Null: over; else the state that is to be reported.
  std::shared_ptr<const HangState> wait_until_over(const FinishLimits& limits,
                                                   const std::function<bool(std::uint32_t)>& over);
  Expected<RunReport> finish_hung(std::shared_ptr<const HangState> state);
  // Leaves nothing behind, as if the recording had not been started.
  void abandon();

 private:
  Recording() = default;
  Expected<void> begin_finish();
  Expected<RunReport> end_finish();
  [[nodiscard]] bool lanes_are_closed() const;

  template <class Lane>
  Expected<Lane> open(StreamId stream, std::uint32_t record_bytes, std::string_view producer) {
    const std::lock_guard lock(mutex_);  // until the lane is open, nobody else may find it closed
    TM_TRY(const auto lane, claim_lane(stream, record_bytes, producer));
    return Lane(&region_, lane);
  }
  Expected<LaneIndex> claim_lane(StreamId stream, std::uint32_t record_bytes,
                                 std::string_view producer);

  MappedMemory mapping_;
  RegionView region_;
  Overflow policy_ = Overflow::kWait;
  std::unique_ptr<ActiveRun> run_;
  std::mutex mutex_;
  LaneIndex planned_lanes_ = 0;
  LaneIndex next_lane_ = 0;
  bool own_clock_ = true;  // this machine's
  bool finished_ = false;
};

}  // namespace tidemark
