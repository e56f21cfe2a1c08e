// SPDX-License-Identifier: Apache-2.0
// The part of the orchestrator that knows no kernel types: takes space for a task, writes it down,
// connects it with its producers and releases it.
#pragma once

#include <cstdint>

#include "tidemark/runtime/graph/producer_set.h"
#include "tidemark/runtime/graph/slot_filling.h"
#include "tidemark/runtime/graph/submit_check.h"
#include "tidemark/runtime/graph/submitted.h"
#include "tidemark/runtime/units/completion.h"

namespace tidemark {

template <UnitEnv Env, GraphWatch Watch>
class TaskSubmitter {
 public:
  TM_DEVICE bool failed() const {
    return memory_.control().error.load_relaxed() != ErrorCode::kNone;
  }

  // For Scope. False: refused, or the run is ending.
  TM_DEVICE TM_NOINLINE bool open_scope(const Site& site) {
    if (failed()) return false;
    if (scopes_.full()) {
      refuse({.code = ErrorCode::kScopeDepthExceeded,
              .used = kScopeDepthMax,
              .capacity = kScopeDepthMax,
              .submit = site});
      return false;
    }
    scopes_.open(site);
    status_->scopes.store_relaxed(scopes_.total());
    watch_.scope_opened(scopes_, rings_);
    return true;
  }
  TM_DEVICE TM_NOINLINE void close_scope() {
    watch_.scope_closes(scopes_, rings_);
    scopes_.close();
  }

 protected:
  TM_DEVICE TM_NOINLINE TaskSubmitter(const RuntimeMemory& memory, RuntimeStatus* status,
                                      Watch& watch)
      : memory_(memory), status_(status), watch_(watch), rings_(memory, status, scopes_, watch) {
    status_->scheduler_count.store_relaxed(memory.config().scheduler_count);
  }

  TM_DEVICE TM_NOINLINE void refuse(ErrorDetails details) {
    details.scope = scopes_.site();
    rings_.latch().latch(details);
  }

  TM_DEVICE bool usable(const TensorRef& ref) const {
    return ref.exists && (ref.owner == kNoOwner || scopes_.is_open(ref.scope));
  }

  // What the runtime made was checked when it was made.
  TM_DEVICE bool lies_in_its_memory(const TensorRef& ref) const {
    return ref.known || lies_within(ref.view, memory_.layout().total_bytes);
  }

  // What holds for any task, whatever its kernel declares.
  TM_DEVICE bool well_formed(Args& args, const TaskPlan& task) {
    const auto bad = [&](std::uint32_t arg, const char* why) {
      refuse({.code = ErrorCode::kInvalidArgs,
              .arg = arg,
              .submit = task.site,
              .kernel = task.name,
              .text = why});
      return false;
    };
    if (scopes_.empty()) return bad(kNoArg, "submitted outside of every scope");
    if (!args.has_place()) return bad(kNoArg, "more than 4 Args at a time, on a GPU");
    if (args.too_many())
      return bad(kNoArg, "more than 32 tensors, 16 scalars, 32 single afters or 8 lists of them");
    if (args.tensor_behind_scalar()) return bad(kNoArg, "a tensor after a scalar");
    if (args.block_count() == 0 || args.block_count() > kBlocksMax)
      return bad(kNoArg, "a task of no blocks, or of more than 2^30");
    std::uint32_t outputs = 0;
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
      const Args::Tensor& tensor = args.tensor(i);
      if (tensor.access == Access::kOutput) {
        if (++outputs > kOutputsMax) return bad(i, "more than 8 outputs");
        if (!shape_is_sane(tensor.ref.view.shape) ||
            static_cast<std::uint32_t>(tensor.ref.view.dtype) >= kDTypeCount)
          return bad(i, "an output of more than 5 dimensions or 2^59 elements, or of no dtype");
      } else if (task.complete_at_once) {
        return bad(i, "allocate(): complete at once, so it takes outputs only");
      } else if (!tensor.ref.exists) {
        return bad(i, "a tensor that no submit made");
      } else if (!usable(tensor.ref)) {
        return bad(i, "a handle whose scope is closed");
      } else if (tensor.ref.slip != ViewSlip::kNone) {
        return bad(i, to_text(tensor.ref.slip));
      } else if (!lies_in_its_memory(tensor.ref)) {
        return bad(i, to_text(ViewSlip::kBeyondBuffer));
      }
    }
    if (task.complete_at_once && args.after_count() > 0)
      return bad(kNoArg, "allocate(): complete at once, so it waits for nobody");
    if (!args.each_after([](const TaskHandle& other) { return other.valid(); }))
      return bad(kNoArg, "after(): a task that no submit made");
    return fits_the_cores(args, task);
  }

  TM_DEVICE bool fits_the_cores(const Args& args, const TaskPlan& task) {
    if (!args.sync_start()) return true;
    const CoreType type = task.shape == TaskShape::kAic ? CoreType::kAic : CoreType::kAiv;
    const std::uint64_t cores = task.shape == TaskShape::kMix ? memory_.config().cluster_count
                                                              : memory_.config().core_count(type);
    if (args.block_count() <= cores) return true;
    refuse({.code = ErrorCode::kSyncStartInvalid,
            .capacity = cores,
            .requested = args.block_count(),
            .submit = task.site,
            .kernel = task.name});
    return false;
  }

  TM_DEVICE TM_NOINLINE Submitted submit_checked(Args& args, const TaskPlan& task) {
    Submitted result;
    if (failed() || !well_formed(args, task)) return result;
    watch_.submit_begins();
    const std::uint32_t ring_index = scopes_.ring();
    Ring& ring = rings_.ring(ring_index);
    const SpaceRequest request{.ring = ring_index,
                               .task_id = TaskId::make(ring_index, ring.window.head()).value,
                               .kernel = task.name,
                               .submit = task.site};
    rings_.reclaim(ring_index);
    TaskSpace space;
    if (!take_space(args, request, ring, space)) return result;
    const SlotRef ref = rings_.ref_of(ring_index, ring.window.push());
    watch_.took(Resource::kTaskWindow, ring_index, ring.window.live_count());
    TaskSlot& slot = memory_.slot(ref);
    fill_slot(memory_, slot, args, task,
              {.ring = ring_index,
               .number = ring.window.head() - 1,
               .args_offset = space.args.offset,
               .heap_offset = space.heap.offset,
               .scope = scopes_.mark()});
    slot.submit_file = rings_.file_number(task.site.file);
    ++scopes_.current().task_count;
    ++submitted_;
    status_->submitted.store_relaxed(submitted_);
    rings_.line().task(slot.id.value);
    bool waits = false;
    if (!connect(ref, args, request, waits)) return result;
    slot.heap_mark = ring.heap.head();
    slot.args_mark = ring.args.head();
    slot.dep_mark = ring.deps.head();
    slot.fanin_mark = ring.fanin.head();
    rings_.tell(ring_index);
    status_->map_entries.store_relaxed(rings_.map().live_count());
    tell_outputs(slot, args, result);
    watch_.submitted(slot);
    watch_.described(memory_, slot, task);
    if (task.complete_at_once) {
      complete_task<Env>(memory_, ref);
      slot.linked = kListClosed;
      status_->completed_at_once.store_relaxed(++completed_at_once_);
      // On the host edges may still come: see release_all.
    } else if (memory_.config().reclaims() && is_ready(slot, waits)) {
      make_ready<Env>(memory_, ref, slot);
    }
    watch_.submit_ends(result.task.id, rings_);
    return result;
  }

  struct TaskSpace {
    ArgRing::Allocation args;
    HeapRing::Allocation heap;
  };
  // A slot, and memory for arguments and outputs, each in one piece.
  TM_DEVICE bool take_space(Args& args, SpaceRequest request, Ring& ring, TaskSpace& space) {
    request.resource = Resource::kTaskWindow;
    if (!rings_.wait_for(request, [&] { return !ring.window.full(); })) return false;
    request.resource = Resource::kArguments;
    const std::uint64_t own_bytes = args_bytes(args);
    if (!rings_.take_bytes(request, own_bytes, ring.args, space.args)) return false;
    watch_.took(Resource::kArguments, request.ring, ring.args.used_bytes(), own_bytes);
    std::uint64_t bytes = 0;
    bool outputs = false;
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
      if (args.tensor(i).access != Access::kOutput) continue;
      outputs = true;
      bytes = add_output_bytes(bytes, args.tensor(i).ref.view);
    }
    if (!outputs) return true;
    request.resource = Resource::kHeap;
    const bool taken = rings_.take_bytes(request, bytes, ring.heap, space.heap);
    if (taken) watch_.took(Resource::kHeap, request.ring, ring.heap.used_bytes(), bytes);
    return taken;
  }

  // All look-ups come before all registrations: a task never waits for itself. waits: producers may
  // count it down.
  TM_DEVICE bool connect(SlotRef ref, Args& args, const SpaceRequest& request, bool& waits) {
    ProducerSet<Env, Watch> producers(memory_, rings_, watch_, request, ref, ++serial_);
    const bool automatic = memory_.config().automatic_edges();
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
      const Args::Tensor& tensor = args.tensor(i);
      if (tensor.access == Access::kOutput) continue;
      if (!automatic) {
        if (!producers.retain_creator(tensor.ref)) return false;
        continue;
      }
      if (!producers.add_creator(tensor.ref, i)) return false;  // it wrote all of the buffer
      if (tensor.access != Access::kNoDep &&
          !producers.add_overlapping(tensor.ref.view, tensor.access, i))
        return false;
    }
    if (!args.each_after([&](const TaskHandle& task) { return producers.add_explicit(task); }))
      return false;
    waits = producers.wired();
    if (!automatic) return true;
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i)
      if (args.tensor(i).access != Access::kOutput &&
          !producers.register_access(args.tensor(i).ref, args.tensor(i).access, i))
        return false;
    return true;
  }

  // The submit is over: no producer is left to wait for. Where there was none, nobody else counts.
  TM_DEVICE static bool is_ready(TaskSlot& slot, bool waits) {
    if (!waits) {
      slot.pending.store_relaxed(0);
      return true;
    }
    return slot.pending.subtract_acq_rel(1) == 1;  // [producer done]; pairs with [producer done]
  }

  TM_DEVICE void tell_outputs(const TaskSlot& slot, Args& args, Submitted& result) {
    result.task = {slot.id, scopes_.mark()};
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i)
      if (args.tensor(i).access == Access::kOutput) result.add_output(args.tensor(i).ref);
  }

  RuntimeMemory memory_;
  RuntimeStatus* status_;
  Watch& watch_;
  ScopeStack scopes_;
  RingSet<Env, Watch> rings_;
  std::uint64_t submitted_ = 0, completed_at_once_ = 0;
  std::uint64_t serial_ = 0;
};

}  // namespace tidemark
