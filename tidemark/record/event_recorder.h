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
};

template <class Env>
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
    this->region().names().intern(name.hash, name.text, name.length);
    return this->write(UserEvent{.name_hash = name.hash,
                                 .time_ticks = Env::now_ticks(),
                                 .value = value,
                                 .kind = kind,
                                 .unit = static_cast<std::uint16_t>(this->plan().unit)});
  }
};

}  // namespace tidemark
