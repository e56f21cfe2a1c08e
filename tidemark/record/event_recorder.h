// SPDX-License-Identifier: Apache-2.0
// User events: marks and counters by name. The first use of a name puts its text into the
// region's name table; the record carries the hash.
#pragma once

#include <cstdint>

#include "tidemark/record/recorder.h"
#include "tidemark/schema/name.h"
#include "tidemark/schema/user_event.h"

namespace tidemark {

// Where nothing is recorded.
struct NoEvents {
  TM_DEVICE bool mark(const Name&, std::int64_t = 0) { return false; }
  TM_DEVICE bool counter(const Name&, std::int64_t) { return false; }
  TM_DEVICE void at(const Name&, std::uint64_t = 0) {}
  TM_DEVICE void waits_for(const Name&, std::uint64_t = 0) {}
};

template <DeviceEnv Env>
class EventRecorder : public Recorder<UserEvent, Env> {
 public:
  using Recorder<UserEvent, Env>::Recorder;

  TM_DEVICE bool mark(const Name& name, std::int64_t value = 0) {
    return put(name, EventKind::kMark, value);
  }
  TM_DEVICE bool counter(const Name& name, std::int64_t value) {
    return put(name, EventKind::kCounter, value);
  }

 private:
  TM_DEVICE bool put(const Name& name, EventKind kind, std::int64_t value) {
    if (!this->enabled()) return false;
    // A name is never taken out: once the table is full, looking again finds nothing new, and a
    // look at every slot is slow where the table is far away.
    if (!names_are_full_)
      names_are_full_ = !this->region().names().intern(name.hash, name.text, name.length);
    return this->write(UserEvent{.name_hash = name.hash,
                                 .time_ticks = this->now(),
                                 .value = value,
                                 .kind = kind,
                                 .unit = static_cast<std::uint16_t>(this->plan().unit)});
  }

  bool names_are_full_ = false;
};

}  // namespace tidemark
