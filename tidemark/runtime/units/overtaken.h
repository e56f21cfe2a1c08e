// SPDX-License-Identifier: Apache-2.0
// Dispatches that wait in a mailbox behind a slow kernel, while younger tasks begin elsewhere. Each
// scheduler looks for them once in so many tasks, on all cores of the device, and takes the oldest
// for an idle core of its own. Until there is none, it gives nothing younger to that type of core:
// cores run dry, and the overtaken ones get them.
//
//   age of a dispatch: tasks taken from the queues that serve its type when it was given
//   overtaken:         so many have been taken since as all mailboxes of the type hold (places)
//   looked for:        once in half as many; so it is found after 1.5 × places at most
#pragma once

#include <cstdint>

#include "tidemark/runtime/units/own_cores.h"

namespace tidemark {

template <UnitEnv Env>
class Overtaken {
 public:
  TM_DEVICE Overtaken(const RuntimeMemory& memory, OwnCores<Env>& cores)
      : memory_(&memory), cores_(&cores) {}

  // There were some at the last look, and no idle core for the oldest of them.
  TM_DEVICE bool any(CoreType type) const { return any_[index(type)]; }

  // Gives them idle cores, as far as there are some. True: one was moved.
  TM_DEVICE bool move(CoreType type) {
    if (memory_->config().mailbox_depth == 1) return false;  // nothing waits behind a kernel
    bool moved = false;
    while (any(type) || cores_->age(type) - looked_[index(type)] >= places(type) / 2) {
      const Found found = look(type);
      if (!any(type)) break;
      const std::uint32_t core = cores_->idle(type);
      if (core == OwnCores<Env>::kNone) break;
      moved |= take(found, core);
    }
    return moved;
  }
  // Before a scheduler sleeps: whatever waits behind a kernel begins on a core that is idle.
  TM_DEVICE bool relieve() {
    bool moved = false;
    for (const CoreType type : {CoreType::kAic, CoreType::kAiv}) {
      const std::uint32_t core = cores_->idle(type);
      if (core == OwnCores<Env>::kNone) continue;
      const Found found = oldest(type);
      if (found.cell != nullptr) moved |= take(found, core);
    }
    cores_->tell_cores();
    return moved;
  }

 private:
  struct Found {
    DispatchCell* cell = nullptr;
    std::uint64_t age = 0;
  };

  TM_DEVICE Found look(CoreType type) {
    const std::uint64_t now = cores_->age(type);
    const Found found = oldest(type);
    looked_[index(type)] = now;
    any_[index(type)] = found.cell != nullptr && now - found.age >= places(type);
    return found;
  }
  // Of all that wait behind a kernel. Those of one core are in the order of their ages.
  TM_DEVICE Found oldest(CoreType type) const {
    Found found;
    for (std::uint32_t core = 0; core < memory_->config().core_count(); ++core) {
      if (core_type(core) != type) continue;
      const Mailbox& mailbox = memory_->mailbox(core);
      const std::uint64_t end = mailbox.dispatched.load_relaxed();
      // The first one is its kernel.
      for (std::uint64_t token = mailbox.finished.load_relaxed() + 1; token < end; ++token) {
        DispatchCell& cell = memory_->dispatch(core, token);
        std::uint64_t age = 0;
        if (!cell.claim.waits(age)) continue;
        if (found.cell == nullptr || age < found.age) found = {&cell, age};
        break;
      }
    }
    return found;
  }
  // False: its core has come to it, or another scheduler took it.
  TM_DEVICE bool take(const Found& found, std::uint32_t core) {
    if (!found.cell->claim.take(found.age)) return false;
    Dispatch dispatch = found.cell->dispatch;
    found.cell->claim.copied();
    // Where finishes are recorded, it says when the task was given.
    if (dispatch.dispatch_ticks != 0) dispatch.dispatch_ticks = Env::now_ticks();
    cores_->give(core, dispatch);
    return true;
  }

  TM_DEVICE static constexpr std::uint32_t index(CoreType type) {
    return static_cast<std::uint32_t>(type);
  }
  TM_DEVICE std::uint64_t places(CoreType type) const {
    return std::uint64_t{memory_->config().core_count(type)} * memory_->config().mailbox_depth;
  }

  const RuntimeMemory* memory_;
  OwnCores<Env>* cores_;
  std::uint64_t looked_[2] = {};
  bool any_[2] = {};
};

}  // namespace tidemark
