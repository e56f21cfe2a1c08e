// SPDX-License-Identifier: Apache-2.0
// The four rings as the orchestrator keeps them: what is used, what is free, and the reclaim of
// consumed tasks in their order. Space that is not there is waited for; if it can be proven that
// none will ever come, the run ends with the reason.
#pragma once

#include <cstdint>

#include "tidemark/runtime/error_latch.h"
#include "tidemark/runtime/graph/graph_watch.h"
#include "tidemark/runtime/graph/ring.h"
#include "tidemark/runtime/graph/scope_stack.h"
#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/unit_env.h"
#include "tidemark/runtime/units/unit_line.h"

namespace tidemark {

template <UnitEnv Env, GraphWatch Watch>
class RingSet;
#if TM_ON_GPU
// Those of the block's orchestrator, by their place: see unit_place.h and task_submitter.h.
template <UnitEnv Env, GraphWatch Watch>
__device__ RingSet<Env, Watch>& rings_of_block();
#endif

template <UnitEnv Env, GraphWatch Watch>
class RingSet {
 public:
  TM_DEVICE RingSet(const RuntimeMemory& memory, RuntimeStatus* status, ScopeStack& scopes,
                    Watch& watch)
      : memory_(memory),
        status_(status),
        latch_(&memory.control(), status),
        scopes_(scopes),
        watch_(watch),
        line_(status, 0),
        map_(memory.tensor_map()),
        rings_{make(0), make(1), make(2), make(3)} {
    watch_.tell_waits_to(line_.recorder());
  }
  TM_DEVICE ~RingSet() { watch_.tell_waits_to(nullptr); }  // the line goes with it
  RingSet(const RingSet&) = delete;
  RingSet& operator=(const RingSet&) = delete;

  TM_DEVICE Ring& ring(std::uint32_t index) { return rings_[index]; }
  TM_DEVICE const RuntimeMemory& memory() const { return memory_; }
  TM_DEVICE Watch& watch() const {
#if TM_ON_GPU
    return *reinterpret_cast<Watch*>(unit_place());
#else
    return watch_;
#endif
  }
  // The same object.
  TM_DEVICE RingSet& self() {
#if TM_ON_GPU
    return rings_of_block<Env, Watch>();
#else
    return *this;
#endif
  }
  TM_DEVICE TensorMap& map() { return map_; }
  TM_DEVICE ErrorLatch& latch() { return latch_; }
  TM_DEVICE UnitLine& line() { return line_; }

  // The place of a source file in the status's list, for readers without the program; the
  // last place is for all that came too late.
  TM_DEVICE std::uint32_t file_number(const char* file) {
    return file == last_file_ ? last_file_number_ : look_up_file(file);
  }
  TM_DEVICE TM_NOINLINE_ON_GPU std::uint32_t look_up_file(const char* file) {
    last_file_ = file;
    for (last_file_number_ = 0; last_file_number_ < file_count_; ++last_file_number_)
      if (files_[last_file_number_] == file) return last_file_number_;
    if (file_count_ == kSiteFilesMax) return last_file_number_ = kSiteFilesMax;
    files_[file_count_++] = file;
    ErrorLatch::copy_text(status_->site_files[last_file_number_], file);
    return last_file_number_;
  }

  // For every submit. Where far words are slow, for several tasks at a time.
  TM_DEVICE void reclaim_now_and_then(std::uint32_t index) {
    if (kReclaimEvery == 1 || rings_[index].window.head() % kReclaimEvery == 0) reclaim(index);
  }
  // Moves the tail over the longest prefix of consumed tasks.
  TM_DEVICE TM_NOINLINE void reclaim(std::uint32_t index) { self().reclaim_here(index); }
  TM_DEVICE TM_INLINE void reclaim_here(std::uint32_t index) {
    if (!memory_.config().reclaims()) return;
    Ring& ring = rings_[index];
    const std::uint64_t before = ring.window.tail();
    std::uint64_t tail = before;
    if constexpr (kReclaimEvery > 1) {
      for (std::uint32_t count = kReclaimEvery; count == kReclaimEvery; tail += count)
        count = reclaim_some(index, tail);
    } else {
      for (; tail < ring.window.head(); ++tail) {
        TaskSlot& slot = memory_.slot(ref_of(index, tail));
        if (!consumed(slot)) break;
        watch().reclaimed(slot);
        retire_entries(slot);
        free_up_to(ring, slot);
      }
    }
    if (tail == before) return;
    ring.window.retire_below(tail);
    note_evictions();
    tell(index);
  }
  TM_DEVICE void reclaim_all() {
    for (std::uint32_t index = 0; index < kRingCount; ++index) reclaim(index);
  }

  // Calls try_take, which has failed, until it succeeds. False: the run is ending.
  template <class TryTake>
  TM_DEVICE TM_NOINLINE bool wait_for(const SpaceRequest& request, const TryTake& try_take) {
    reclaim_all();
    if (try_take()) return true;
    const std::uint64_t begin_ticks = Env::now_ticks();
    line_.wait_for(request.resource, request.ring, begin_ticks);
    bool taken = false;
    for (std::uint32_t round = 0;; ++round) {
      reclaim_all();
      if (request.resource == Resource::kTensorMap) give_up_complete();
      taken = try_take();
      if (taken || latch_.set()) break;
      if (nothing_will_be_freed(request)) {
        latch_.latch(deadlock_of(request, rings_[request.ring], scopes_.innermost(),
                                 map_.live_count(), map_.capacity()));
        break;
      }
      Env::wait_for_space(round);
    }
    note_wait(request, Env::now_ticks() - begin_ticks);
    if (taken) line_.enter(UnitState::kBusy, Env::now_ticks());
    return taken;
  }

  // Memory for `bytes` in a row, which was not there. Not allocated: the run is ending.
  template <std::uint64_t kAlign>
  TM_DEVICE TM_NOINLINE_ON_GPU typename ByteRing<kAlign>::Allocation wait_for_bytes(
      SpaceRequest request, std::uint64_t bytes, ByteRing<kAlign>& ring) {
    using Answer = typename ByteRing<kAlign>::Answer;
    typename ByteRing<kAlign>::Allocation taken;
    request.requested = bytes;
    if (bytes > ring.capacity()) {
      latch_.latch({.code = ErrorCode::kRequestTooLarge,
                    .resource = request.resource,
                    .ring = request.ring,
                    .capacity = ring.capacity(),
                    .requested = bytes,
                    .task_id = request.task_id,
                    .scope = scopes_.site(),
                    .submit = request.submit,
                    .kernel = request.kernel});
      return taken;
    }
    wait_for(request, [&] {
      taken = ring.allocate(bytes);
      return taken.answer == Answer::kAllocated;
    });
    return taken;
  }

  // Everything that writes the view is complete.
  TM_DEVICE bool is_written(const TensorRef& ref) {
    const TaskId owner{ref.owner};
    if (ref.owner != kNoOwner && !is_complete(ref_of(owner.ring(), owner.local()))) return false;
    if (!map_.may_have(ref.view.buffer)) return true;
    for (std::uint32_t link = find(canonical_of(ref.view), false); link != TensorMap::kNone;
         link = map_.entry(link).found)
      if (map_.entry(link).retired == 0 && !is_complete({map_.entry(link).slot})) return false;
    return true;
  }

  // An entry that made room may have been a producer of a task to come: the graph has to say so.
  TM_DEVICE void note_evictions() {
    if (map_.evicted_count() != evictions_noted_) tell_evictions();
  }
  TM_DEVICE TM_NOINLINE_ON_GPU void tell_evictions() {
    evictions_noted_ = map_.evicted_count();
    status_->map_evictions.store_relaxed(evictions_noted_);
    watch_.writers_evicted();
  }

  // The ring's state in the status, for watchdogs and for 'tidemark top'.
  TM_DEVICE TM_NOINLINE void tell(std::uint32_t index) { self().tell_here(index); }
  TM_DEVICE TM_INLINE void tell_here(std::uint32_t index) {
    const Ring& ring = rings_[index];
    RingStatus& shown = status_->rings[index];
    shown.head.store_relaxed(ring.window.head());
    shown.tail.store_relaxed(ring.window.tail());
    shown.heap_head.store_relaxed(ring.heap.head());
    shown.heap_tail.store_relaxed(ring.heap.tail());
    shown.dep_head.store_relaxed(ring.deps.head());
    shown.dep_tail.store_relaxed(ring.deps.tail());
    shown.fanin_head.store_relaxed(ring.fanin.head());
    shown.fanin_tail.store_relaxed(ring.fanin.tail());
    shown.args_head.store_relaxed(ring.args.head());
    shown.args_tail.store_relaxed(ring.args.tail());
  }

  TM_DEVICE SlotRef ref_of(std::uint32_t ring, std::uint64_t number) const {
    return SlotRef::make(ring, rings_[ring].window.slot_of(number));
  }

 private:
  TM_DEVICE Ring make(std::uint32_t index) const {
    return Ring(memory_.config().rings[index], memory_.layout().rings[index]);
  }

  TM_DEVICE bool is_complete(SlotRef ref) const {
    // pairs with [task complete]
    return memory_.slot(ref).state.load_acquire() == TaskState::kCompleted;
  }
  TM_DEVICE bool scope_is_open(const TaskSlot& slot) const {
    return scopes_.is_open({slot.scope_depth, slot.scope_serial});
  }
  TM_DEVICE bool consumed(const TaskSlot& slot) const {
    // On a GPU an acquire empties the cache: only where it is needed.
    if (scope_is_open(slot) || slot.state.load_relaxed() != TaskState::kCompleted) return false;
    // pairs with [task complete] and [memory released]
    return slot.state.load_acquire() == TaskState::kCompleted &&
           slot.released.load_acquire() == slot.retained;
  }

  // The same of several tasks, whose words are all asked for before any is looked at. Returns how
  // many of them were consumed and are given back.
  TM_DEVICE std::uint32_t reclaim_some(std::uint32_t index, std::uint64_t tail) {
    Ring& ring = rings_[index];
    const std::uint64_t live = ring.window.head() - tail;
    const std::uint32_t count =
        live < kReclaimEvery ? static_cast<std::uint32_t>(live) : kReclaimEvery;
    struct Words {
      TaskState state;
      std::uint32_t released, retained, scope_serial, scope_depth, map_first, entries_on_it;
    } words[kReclaimEvery];
    TM_UNROLL
    for (std::uint32_t i = 0; i < kReclaimEvery; ++i) {
      // Behind the last one: a slot that is there, but not looked at.
      const TaskSlot& slot = memory_.slot(ref_of(index, tail + i));
      words[i] = {slot.state.load_relaxed(),
                  slot.released.load_relaxed(),
                  slot.retained,
                  slot.scope_serial,
                  slot.scope_depth,
                  slot.map_first,
                  slot.entries_on_it};
    }
    std::uint32_t gone = 0;
    TM_UNROLL
    for (std::uint32_t i = 0; i < kReclaimEvery; ++i) {
      const ScopeMark scope{words[i].scope_depth, words[i].scope_serial};
      const bool consumed = words[i].state == TaskState::kCompleted &&
                            words[i].released == words[i].retained && !scopes_.is_open(scope);
      if (gone == i && i < count && consumed) gone = i + 1;
    }
    if (gone == 0) return 0;
    order_look_before_use_acquire();  // pairs with [task complete] and [memory released]
    TM_UNROLL
    for (std::uint32_t i = 0; i < kReclaimEvery; ++i) {
      if (i == gone) break;
      TaskSlot& slot = memory_.slot(ref_of(index, tail + i));
      watch().reclaimed(slot);
      if (words[i].map_first != TensorMap::kNone || words[i].entries_on_it != 0)
        retire_entries(slot);
    }
    free_up_to(ring, memory_.slot(ref_of(index, tail + gone - 1)));
    return gone;
  }

  TM_DEVICE TM_NOINLINE_ON_GPU void retire_entries(TaskSlot& slot) {
    self().map_.retire(slot.map_first);
    if (slot.entries_on_it != 0) forget_buffers(slot);
  }
  // What the task and all before it held.
  TM_DEVICE void free_up_to(Ring& ring, const TaskSlot& slot) {
    // Below the tail: the task took no memory, and the ring has started anew since.
    if (slot.heap_mark > ring.heap.tail()) ring.heap.free_up_to(slot.heap_mark);
    if (slot.args_mark > ring.args.tail()) ring.args.free_up_to(slot.args_mark);
    ring.deps.free_up_to(slot.dep_mark);
    ring.fanin.free_up_to(slot.fanin_mark);
  }

  // The memory of the task's outputs will belong to others: nothing may be found under it.
  TM_DEVICE void forget_buffers(const TaskSlot& slot) {
    const StoredTensor* tensors = memory_.tensors(slot);
    for (std::uint32_t i = 0; i < slot.tensor_count; ++i) {
      if (tensors[i].access != Access::kOutput) continue;
      const std::uint64_t buffer = tensors[i].view.buffer;
      for (std::uint32_t link; (link = map_.any_of(buffer)) != TensorMap::kNone;) drop_entry(link);
    }
  }

 public:
  // The tensor map's own, each once on a GPU.
  TM_DEVICE TM_NOINLINE_ON_GPU std::uint32_t find(const CanonicalView& view, bool readers) {
    return self().map_.find(view, {.readers = readers});
  }
  TM_DEVICE TM_NOINLINE_ON_GPU void add_entry(const CanonicalView& view, TaskId task, SlotRef slot,
                                              bool reads, std::uint32_t arg,
                                              std::uint32_t& task_first) {
    self().map_.add(view, task, slot, reads, arg, task_first);
  }
  // Of a live or a retired task.
  TM_DEVICE TM_NOINLINE_ON_GPU void drop_entry(std::uint32_t link) {
    std::uint32_t none = TensorMap::kNone;
    self().map_.drop(link, self().list_with(link, none));
  }
  // Another task's entry takes the place of one of the same elements.
  TM_DEVICE TM_NOINLINE_ON_GPU void replace_entry(std::uint32_t link, TaskId task, SlotRef slot,
                                                  std::uint32_t arg, std::uint32_t& task_first) {
    std::uint32_t none = TensorMap::kNone;
    self().map_.replace(link, self().list_with(link, none), task, slot, arg, task_first);
  }

 private:
  // The list of the task of a live entry.
  TM_DEVICE std::uint32_t& list_with(std::uint32_t link, std::uint32_t& none) {
    const MapEntry& entry = map_.entry(link);
    return entry.retired != 0 ? none : memory_.slot({entry.slot}).map_first;
  }
  // The tail is at a task whose scope only the blocked orchestrator could close.
  TM_DEVICE bool tail_is_stuck(std::uint32_t index) const {
    const TaskWindow& window = rings_[index].window;
    if (window.live_count() == 0) return true;
    return scope_is_open(memory_.slot(ref_of(index, window.tail())));
  }
  // Only what is proven: a slow kernel is no deadlock.
  TM_DEVICE TM_NOINLINE bool nothing_will_be_freed(const SpaceRequest& request) {
    if (!memory_.config().reclaims()) return true;
    switch (request.resource) {
      // The wait ends at the latest when the producer completes, and every submitted task can.
      case Resource::kDepPool:
        return false;
      // Every other task completes, and then its entries are given up.
      case Resource::kTensorMap:
        return map_.live_count() == entries_of(TaskId{request.task_id});
      default:
        return tail_is_stuck(request.ring);
    }
  }
  TM_DEVICE std::uint32_t entries_of(TaskId task) {
    std::uint32_t count = 0;
    for (std::uint32_t link = memory_.slot(ref_of(task.ring(), task.local())).map_first;
         link != TensorMap::kNone; link = map_.entry(link).next_of_task)
      ++count;
    return count;
  }
  // Entries of complete tasks whose scopes are open serve only the telling of edges: they make room
  // for those that somebody must wait for. The tasks of one ring at a time.
  TM_DEVICE TM_NOINLINE void give_up_complete() {
    for (std::uint32_t index = 0; index < kRingCount && !map_.has_room(); ++index) {
      const TaskWindow& window = rings_[index].window;
      for (std::uint64_t number = window.tail(); number < window.head(); ++number) {
        TaskSlot& slot = memory_.slot(ref_of(index, number));
        if (slot.map_first == TensorMap::kNone || !is_complete(ref_of(index, number))) continue;
        while (slot.map_first != TensorMap::kNone) map_.give_up(slot.map_first, slot.map_first);
      }
    }
  }

  TM_DEVICE TM_NOINLINE void note_wait(const SpaceRequest& request, std::uint64_t ticks) {
    BackpressureStatus& shown = status_->backpressure;
    waited_ticks_ += ticks;
    shown.ticks.store_relaxed(waited_ticks_);
    shown.waits.store_relaxed(++waits_);
    if (ticks <= longest_ticks_) return;
    longest_ticks_ = ticks;
    shown.longest_ticks.store_relaxed(ticks);
    shown.ring.store_relaxed(request.ring);
    shown.resource.store_relaxed(request.resource);
    shown.scope_line.store_relaxed(scopes_.site().line);
    ErrorLatch::copy_text(shown.scope_file, scopes_.site().file);
  }

  // How many submits later the memory of tasks is looked after.
  static constexpr std::uint32_t kReclaimEvery = kLoadsTogether<Env> > 8 ? 8 : kLoadsTogether<Env>;

  RuntimeMemory memory_;
  RuntimeStatus* status_;
  ErrorLatch latch_;
  ScopeStack& scopes_;
  Watch& watch_;
  UnitLine line_;
  const char* files_[kSiteFilesMax] = {};
  const char* last_file_ = nullptr;
  std::uint32_t file_count_ = 0, last_file_number_ = 0;
  TensorMap map_;
  std::uint64_t evictions_noted_ = 0;
  std::uint64_t waited_ticks_ = 0, longest_ticks_ = 0;  // for space
  std::uint32_t waits_ = 0;
  Ring rings_[kRingCount];
};

}  // namespace tidemark
