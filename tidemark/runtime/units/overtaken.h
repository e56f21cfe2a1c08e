// SPDX-License-Identifier: Apache-2.0
// Dispatches that wait in a mailbox behind a slow kernel, while younger tasks begin elsewhere. Each
// scheduler looks for them once in so many tasks, on all cores of the device, and takes the oldest
// for the core of its own that has the least to do. If that one is slow too, the dispatch gets the
// next idle core, and nothing younger is given meanwhile.
//
//   age of a dispatch: tasks taken from the queues that serve its type when it was given
//   places:            what all mailboxes of the type hold
//   overtaken:         as many tasks were taken since. It is moved
//   overtaken twice:   twice as many. It waits for an idle core, and younger tasks wait for it
//   looked for:        once in half as many; after that in every round until there is room for it
#pragma once

#include <cstdint>

#include "tidemark/runtime/units/own_cores.h"

namespace tidemark {

template <UnitEnv Env>
class Overtaken {
 public:
  TM_DEVICE Overtaken(const RuntimeMemory& memory, OwnCores<Env>& cores)
      : memory_(&memory), cores_(&cores) {}

  // Nothing younger may be given: one was overtaken twice, and there was no idle core.
  TM_DEVICE bool holds(CoreType type) const { return holds_[index(type)]; }
  TM_DEVICE bool holds_any() const { return holds_[0] || holds_[1]; }
  // … by a task that wants these cores of a cluster.
  TM_DEVICE bool holds(std::uint32_t parts) const {
    const RuntimeConfig& config = memory_->config();
    return ((parts & config.parts_of(CoreType::kAic)) != 0 && holds(CoreType::kAic)) ||
           ((parts & config.parts_of(CoreType::kAiv)) != 0 && holds(CoreType::kAiv));
  }

  // By all lanes, as what follows. `age`: cores' age(), as it was seen in this round. True: one was
  // moved.
  TM_DEVICE bool move(CoreType type, std::uint64_t age) {
    const std::uint32_t depth = memory_->config().mailbox_depth;
    // Nothing waits behind a kernel, or no core takes such tasks.
    if (depth == 1 || memory_->config().parts_of(type) == 0) return false;
    if (!holds(type) && age - looked_[index(type)] < places(type) / 2) return false;
    for (bool moved = false;;) {
      const Found found = look(type);
      if (!found.any()) return moved;
      const Taken taken = first_says<Lanes>([&] { return take(type, found, depth); });
      if (taken == Taken::kNoPlace) return moved;
      moved |= taken == Taken::kYes;
    }
  }
  // Now and then: whatever waits behind a kernel begins on a core that is idle.
  TM_DEVICE bool relieve() {
    bool moved = false;
    for (const CoreType type : {CoreType::kAic, CoreType::kAiv}) {
      if (cores_->idle(type) == kNone) continue;
      const Found found = oldest(type);
      if (found.any()) moved |= first_says<Lanes>([&] { return take(found, cores_->idle(type)); });
    }
    return moved;
  }

 private:
  using Lanes = LanesOf<Env>;
  static constexpr std::uint32_t kNone = OwnCores<Env>::kNone;

  struct Found {
    std::uint32_t core = kNone;
    std::uint64_t token = 0;
    std::uint64_t age = 0;
    TM_DEVICE bool any() const { return core != kNone; }
  };

  // The oldest of those that were overtaken.
  TM_DEVICE Found look(CoreType type) {
    const std::uint64_t now = first_says<Lanes>([&] { return cores_->age(type); });
    const Found found = oldest(type);
    // What was given since the clock was read is younger than it.
    const std::uint64_t overtakers = found.any() && now > found.age ? now - found.age : 0;
    const bool due = overtakers >= places(type);
    by_first<Lanes>([&] {
      holds_[index(type)] = overtakers >= 2 * places(type);
      if (!due) looked_[index(type)] = now;  // otherwise the next look is due until it is moved
    });
    return due ? found : Found{};
  }
  // Of the first one that waits behind each kernel: a core by each lane, and so on.
  TM_DEVICE TM_NOINLINE Found oldest(CoreType type) const {
    Found found;
    for (std::uint32_t core = Lanes::lane(); core < memory_->config().core_count();
         core += Lanes::kCount) {
      if (memory_->config().type_of(core) != type) continue;
      const Mailbox& mailbox = memory_->mailbox(core);
      // pairs with [dispatched]: the ages are those of these tokens
      const std::uint64_t end = mailbox.dispatched.load_acquire();
      // The first one is its kernel.
      for (std::uint64_t token = mailbox.finished.load_relaxed() + 1; token < end; ++token) {
        const DispatchCell& cell = memory_->dispatch(core, token);
        if (!cell.claim.is_open(token)) continue;
        const std::uint64_t age = cell.age.load_relaxed();
        if (!found.any() || age < found.age) found = {core, token, age};
        break;
      }
    }
    return oldest_of_lanes(found);
  }
  TM_DEVICE static Found oldest_of_lanes(const Found& found) {
    if constexpr (Lanes::kCount == 1) return found;
    Found best;
    for (std::uint32_t lanes = Lanes::ballot(found.any()); lanes != 0; lanes &= lanes - 1) {
      const std::uint32_t lane = lowest_bit(lanes);
      const std::uint64_t age = Lanes::of_lane(found.age, lane);
      if (best.any() && age >= best.age) continue;
      best = {static_cast<std::uint32_t>(Lanes::of_lane(found.core, lane)),
              Lanes::of_lane(found.token, lane), age};
    }
    return best;
  }
  // For the core that has the least to do.
  enum class Taken : std::uint32_t { kNo, kYes, kNoPlace };
  TM_DEVICE Taken take(CoreType type, const Found& found, std::uint32_t depth) {
    const std::uint32_t core = cores_->least_loaded(type, false);
    if (core == kNone || core == found.core) return Taken::kNoPlace;
    if (cores_->load(core) >= (holds(type) ? 1 : depth)) return Taken::kNoPlace;
    return take(found, core) ? Taken::kYes : Taken::kNo;
  }
  // False: its core has come to it, or another scheduler took it.
  TM_DEVICE bool take(const Found& found, std::uint32_t core) {
    DispatchCell& cell = memory_->dispatch(found.core, found.token);
    if (!memory_->mailbox(found.core).take(found.token, cell)) return false;
    Dispatch dispatch = cell.dispatch;
    cell.claim.copied(found.token);
    // Where finishes are recorded, it says when the task was given.
    if (dispatch.dispatch_ticks != 0) dispatch.dispatch_ticks = Env::now_ticks();
    cores_->give(core, dispatch, found.age);
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
  bool holds_[2] = {};
};

}  // namespace tidemark
