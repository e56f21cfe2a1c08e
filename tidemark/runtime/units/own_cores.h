// SPDX-License-Identifier: Apache-2.0
// The cores of one scheduler: how much each has to do, where the next task goes, and which ones are
// held for a mix.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/lanes.h"
#include "tidemark/runtime/units/unit_env.h"
#include "tidemark/schema/cluster_range.h"

namespace tidemark {

template <UnitEnv Env>
class OwnCores {
  using Lanes = LanesOf<Env>;

 public:
  static constexpr std::uint32_t kNone = ~0u;

  TM_DEVICE OwnCores(const RuntimeMemory& memory, std::uint32_t index)
      : memory_(&memory), index_(index), clusters_(clusters_of(memory.config(), index)) {
    for (Tokens& tokens : kept_) tokens = {0, 0};
    for (std::uint32_t own = 0; own < last() - first() && own < kKept; ++own) {
      idle_ |= bit_of(own);
      types_[index_of(memory.config().type_of(first() + own))] |= bit_of(own);
    }
  }

  TM_DEVICE std::uint32_t first() const { return clusters_.first * kCoresPerCluster; }
  TM_DEVICE std::uint32_t last() const { return clusters_.last * kCoresPerCluster; }

  // Whose tasks it runs.
  TM_DEVICE CoreType type_of(std::uint32_t core) const { return memory_->config().type_of(core); }

  // Dispatches given and not seen finished.
  TM_DEVICE std::uint32_t load(std::uint32_t core) const {
    return static_cast<std::uint32_t>(given(core) - handled(core));
  }
  // The first token that was not seen finished.
  TM_DEVICE std::uint64_t handled(std::uint32_t core) const {
    const std::uint32_t own = core - first();
    return own < kKept ? kept_[own].handled : memory_->mailbox(core).handled;
  }
  // Returns its bit if it has nothing to do now, for note_handled(). By the lane that looks at it.
  TM_DEVICE std::uint64_t handle(std::uint32_t core) {
    const std::uint64_t handled_now = handled(core) + 1;
    memory_->mailbox(core).handled = handled_now;
    const std::uint32_t own = core - first();
    if (own >= kKept) return 0;
    kept_[own].handled = handled_now;
    return kept_[own].given == handled_now ? bit_of(own) : 0;
  }
  // What all lanes found.
  TM_DEVICE void note_handled(std::uint64_t idle) {
    idle_ |= idle;
    touched_ = true;
  }
  // Where there is a lane for each core: what its core, if it has something to do, has finished.
  TM_DEVICE std::uint64_t look() const {
    const std::uint32_t own = Lanes::lane();
    if (own >= last() - first() || load(first() + own) == 0) return kNothing;
    return memory_->mailbox(first() + own).finished.load_relaxed();
  }
  TM_DEVICE bool has_finished(std::uint64_t looked) const {
    return looked != kNothing && looked != handled(first() + Lanes::lane());
  }
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  // Cores that a lane looks at together, from one on.
  static constexpr std::uint32_t kTogether = Lanes::kCount > 1 ? 1 : kLoadsTogether<Env>;
  // Bit per core from this one on, kTogether of them: it has finished something. Each answer is
  // looked at again, with an acquire.
  TM_DEVICE std::uint32_t answered(std::uint32_t from) const {
    // Idle cores have nothing to answer.
    if (are_kept() && (~idle_ >> (from - first()) & ((std::uint64_t{1} << kTogether) - 1)) == 0)
      return 0;
    std::uint64_t finished[kTogether];
    TM_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i) {
      const std::uint32_t core = from + i < last() ? from + i : last() - 1;
      finished[i] = memory_->mailbox(core).finished.load_relaxed();
    }
    std::uint32_t bits = 0;
    TM_UNROLL
    for (std::uint32_t i = 0; i < kTogether; ++i)
      if (from + i < last() && finished[i] != handled(from + i)) bits |= 1u << i;
    return bits;
  }
  TM_DEVICE bool any_busy() const {
    for (std::uint32_t core = first(); core < last(); ++core)
      if (load(core) > 0) return true;
    return false;
  }

  TM_DEVICE std::uint32_t idle(CoreType type) const {
    if (are_kept() && idle_of(type) == 0) return kNone;
    const std::uint32_t core = least_loaded(type, false);
    return core != kNone && load(core) == 0 ? core : kNone;
  }

  // The other schedulers are told whether one of a type is idle.
  TM_DEVICE void tell_idle() {
    if (!touched_ || memory_->config().scheduler_count == 1) return;  // nothing or nobody to tell
    touched_ = false;
    std::uint32_t full = 0;
    for (const CoreType type : {CoreType::kAic, CoreType::kAiv})
      if (idle(type) == kNone) full |= 1u << static_cast<std::uint32_t>(type);
    if (full == full_) return;
    full_ = full;
    memory_->full_types(index_).store_relaxed(full);
  }
  // No other scheduler has a core of the type that has nothing to do.
  TM_DEVICE bool others_are_full(CoreType type) const {
    const std::uint32_t bit = 1u << static_cast<std::uint32_t>(type);
    for (std::uint32_t i = 0; i < memory_->config().scheduler_count; ++i)
      if (i != index_ && (memory_->full_types(i).load_relaxed() & bit) == 0) return false;
    return true;
  }

  // The core of a type with the least to do. Looks first at the one used last: it is awake.
  TM_DEVICE std::uint32_t least_loaded(CoreType type, bool not_held) const {
    const std::uint32_t count = last() - first();
    const std::uint32_t from = type == CoreType::kAic ? last_aic_ : last_aiv_;
    if (const std::uint64_t idle = idle_of(type); are_kept() && !not_held && idle != 0) {
      const std::uint64_t later = idle >> from << from;
      return first() + lowest_bit(later != 0 ? later : idle);
    }
    std::uint32_t best = kNone, best_load = kNone;
    for (std::uint32_t step = 0; step < count && best_load > 0; ++step) {
      std::uint32_t core = from + step;
      if (core >= count) core -= count;
      if (type_of(first() + core) != type) continue;
      if (not_held && is_held(clusters_.first + core / kCoresPerCluster)) continue;
      const std::uint32_t now = load(first() + core);
      if (now >= best_load) continue;
      best = core;
      best_load = now;
    }
    return best == kNone ? kNone : first() + best;
  }

  // How many dispatches the cores of a type can take until each has so many.
  TM_DEVICE std::uint32_t room(CoreType type, std::uint32_t each) const {
    std::uint32_t sum = 0;
    if (are_kept() && each == 1) {
      for (std::uint64_t idle = idle_of(type); idle != 0; idle &= idle - 1) ++sum;
      return sum;
    }
    for (std::uint32_t core = first(); core < last(); ++core)
      if (type_of(core) == type && load(core) < each) sum += each - load(core);
    return sum;
  }

  // A core waits behind its work only if there is more to do than the device has cores, and none of
  // them is idle: otherwise another one, which may be another scheduler's, is free sooner.
  TM_DEVICE std::uint32_t allowed_load(CoreType type, std::uint64_t waiting) const {
    const std::uint64_t others = waiting > 0 ? waiting - 1 : 0;
    const std::uint64_t allowed = 1 + others / memory_->config().core_count(type);
    const std::uint32_t depth = memory_->config().mailbox_depth;
    return allowed < depth ? static_cast<std::uint32_t>(allowed) : depth;
  }

  // A cluster whose cores for these parts have nothing to do.
  TM_DEVICE std::uint32_t free_cluster(std::uint32_t parts) const {
    for (std::uint32_t cluster = clusters_.first; cluster < clusters_.last; ++cluster)
      if (load_of(cluster, parts) == 0) return cluster;
    return kNone;
  }

  // So many clusters are not refilled by what is younger, beginning with the one that has the least
  // to do.
  TM_DEVICE void hold(std::uint32_t parts, std::uint32_t count) {
    const std::uint32_t own = clusters_.last - clusters_.first;
    if (count > own) count = own;
    if (held_count_ == 0 && count > 0)
      for (std::uint32_t cluster = clusters_.first, least = kNone; cluster < clusters_.last;
           ++cluster) {
        const std::uint32_t now = load_of(cluster, parts);
        if (now >= least) continue;
        least = now;
        held_first_ = cluster;
      }
    held_count_ = count;
  }

  // How many tasks were taken that may want a core of the type, with all their blocks: the age of
  // what is given now.
  TM_DEVICE std::uint64_t age(CoreType type) const {
    return memory_->ready(type == CoreType::kAic ? TaskShape::kAic : TaskShape::kAiv).taken() +
           memory_->ready(TaskShape::kMix).taken();
  }
  // The core does not see it before tell_cores(). Behind another one it may be taken for another
  // core, by its age.
  TM_DEVICE void give(std::uint32_t core, const Dispatch& dispatch) {
    give(core, dispatch, load(core) > 0 ? age(type_of(core)) : 0);
  }
  TM_DEVICE void give(std::uint32_t core, const Dispatch& dispatch, std::uint64_t age) {
    put(core, dispatch, age);
    const std::uint32_t own = core - first();
    note_given(core, own < kKept ? bit_of(own) : 0);
    untold_ |= bit_of(own < kKept ? own : kKept - 1);
  }
  // The same for several cores at once, one by each lane, which tells it. Then the first lane says
  // which ones they were, and the last of them.
  TM_DEVICE void give_and_tell(std::uint32_t core, const Dispatch& dispatch, std::uint64_t age) {
    put(core, dispatch, age);
    tell(core);
  }
  TM_DEVICE void note_given(std::uint32_t last_core, std::uint64_t own_bits) {
    (type_of(last_core) == CoreType::kAic ? last_aic_ : last_aiv_) = last_core - first();
    touched_ = true;
    idle_ &= ~own_bits;
  }
  // Once for all that was given to a core: its line is fetched once.
  TM_DEVICE void tell_cores() {
    for (; untold_ != 0; untold_ &= untold_ - 1) {
      const std::uint32_t own = lowest_bit(untold_);
      tell(first() + own);
      // The last bit is for all that are not kept.
      for (std::uint32_t core = first() + kKept; own + 1 == kKept && core < last(); ++core)
        if (memory_->mailbox(core).dispatched.load_relaxed() != given(core)) tell(core);
    }
  }

  TM_DEVICE void send_home() {
    for (std::uint32_t core = first(); core < last(); ++core) {
      memory_->mailbox(core).leave.store_release(1);  // [sent home]
      memory_->mailbox(core).doorbell.template ring<Env>();
    }
  }

 private:
  TM_DEVICE static constexpr std::uint64_t bit_of(std::uint32_t own) {
    return std::uint64_t{1} << own;
  }
  TM_DEVICE static constexpr std::uint32_t index_of(CoreType type) {
    return static_cast<std::uint32_t>(type);
  }
  // All of them: the bits say everything.
  TM_DEVICE bool are_kept() const { return last() - first() <= kKept; }
  TM_DEVICE std::uint64_t idle_of(CoreType type) const { return idle_ & types_[index_of(type)]; }
  TM_DEVICE std::uint64_t given(std::uint32_t core) const {
    const std::uint32_t own = core - first();
    return own < kKept ? kept_[own].given : memory_->mailbox(core).given;
  }
  TM_DEVICE void put(std::uint32_t core, const Dispatch& dispatch, std::uint64_t age) {
    if constexpr (requires { Env::gives(); }) Env::gives();  // a test watches every one
    const std::uint64_t token = given(core);
    DispatchCell& cell = memory_->dispatch(core, token);
    cell.dispatch = dispatch;
    cell.age.store_relaxed(age);
    const std::uint32_t own = core - first();
    if (own < kKept) kept_[own].given = token + 1;
    memory_->mailbox(core).given = token + 1;
  }
  TM_DEVICE void tell(std::uint32_t core) {
    Mailbox& mailbox = memory_->mailbox(core);
    mailbox.dispatched.store_release(given(core));  // [dispatched]
    mailbox.doorbell.template ring<Env>();
  }

  TM_DEVICE bool is_held(std::uint32_t cluster) const {
    const std::uint32_t own = clusters_.last - clusters_.first;
    const std::uint32_t step =
        cluster >= held_first_ ? cluster - held_first_ : cluster + own - held_first_;
    return step < held_count_;
  }
  TM_DEVICE std::uint32_t load_of(std::uint32_t cluster, std::uint32_t parts) const {
    std::uint32_t sum = 0;
    for (std::uint32_t part = 0; part < kCoresPerCluster; ++part)
      if ((parts >> part & 1) != 0) sum += load(core_number(cluster, part));
    return sum;
  }

  const RuntimeMemory* memory_;
  std::uint32_t index_;
  ClusterRange clusters_;
  std::uint32_t full_ = 0;  // bit per core type: none of them is idle
  std::uint32_t last_aic_ = 0, last_aiv_ = 1;
  std::uint32_t held_first_ = 0, held_count_ = 0;
  std::uint64_t untold_ = 0;     // bit per core
  std::uint64_t idle_ = 0;       // the same: everything that it was given was seen finished
  std::uint64_t types_[2] = {};  // the same, by the type of core
  bool touched_ = true;  // something was given or finished since the other schedulers were told
  // Of the first cores, beside the scheduler: in the mailboxes they are for others to see.
  static constexpr std::uint32_t kKept = Lanes::kCount > 1 ? Lanes::kCount : 64;
  struct Tokens {
    std::uint64_t given, handled;
  };
  Tokens kept_[kKept];
};

}  // namespace tidemark
