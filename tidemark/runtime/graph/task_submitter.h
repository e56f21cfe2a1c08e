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

  TM_DEVICE RingSet<Env, Watch>& rings() { return rings_; }

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

  // What nearly every submit is, at a glance. False: well_formed has to look.
  TM_DEVICE bool surely_well_formed(GivenArgs args, const TaskPlan& task) const {
    if (task.complete_at_once || scopes_.empty() || !args.are_plain()) return false;
    if (args.block_count() - 1 >= kBlocksMax) return false;
    std::uint32_t outputs = 0;
    TM_UNROLL_NEVER
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
      const GivenArgs::Tensor& tensor = args.tensor(i);
      if (tensor.access == Access::kOutput) {
        if (++outputs > kOutputsMax || !shape_is_surely_sane(tensor.ref.view.shape) ||
            static_cast<std::uint32_t>(tensor.ref.view.dtype) >= kDTypeCount)
          return false;
      } else if (!tensor.ref.is_sound_and_known() || !usable(tensor.ref)) {
        return false;
      }
    }
    return args.each_after([](const TaskHandle& other) { return other.valid(); });
  }

  // What holds for any task, whatever its kernel declares.
  TM_DEVICE TM_NOINLINE_ON_GPU bool well_formed(GivenArgs args, const TaskPlan& task) {
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
      const GivenArgs::Tensor& tensor = args.tensor(i);
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

  TM_DEVICE bool fits_the_cores(GivenArgs args, const TaskPlan& task) {
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

  TM_DEVICE TM_NOINLINE Submitted submit_checked(GivenArgs args, TaskPlan task) {
    return self().submit_here(args, task);
  }
  // The same object. On a GPU by its place, behind its watch: see unit_place.h.
  TM_DEVICE TaskSubmitter& self() {
#if TM_ON_GPU
    return *reinterpret_cast<TaskSubmitter*>(unit_place() + sizeof(Watch));
#else
    return *this;
#endif
  }
  TM_DEVICE Watch& watch() const {
#if TM_ON_GPU
    return *reinterpret_cast<Watch*>(unit_place());
#else
    return watch_;
#endif
  }
  TM_DEVICE TM_INLINE Submitted submit_here(GivenArgs args, const TaskPlan& task) {
    Submitted result;
    // On a GPU the answer is on its way while the arguments are looked at.
    const ErrorCode error = memory_.control().error.load_relaxed();
    const bool sure = surely_well_formed(args, task);
    if (error != ErrorCode::kNone || (!sure && !well_formed(args, task))) return result;
    Watch& watch = this->watch();
    watch.submit_begins();
    const std::uint32_t ring_index = scopes_.ring();
    Ring& ring = rings_.ring(ring_index);
    rings_.reclaim_now_and_then(ring_index);
    TaskSpace space;
    if (!take_space(args, task, ring_index, space)) return result;
    const std::uint64_t number = ring.window.push();
    const SlotRef ref = rings_.ref_of(ring_index, number);
    watch.took(Resource::kTaskWindow, ring_index, ring.window.live_count());
    TaskSlot& slot = memory_.slot(ref);
    fill_slot(memory_, slot, args, task,
              {.ring = ring_index,
               .number = number,
               .args_offset = space.args.offset,
               .heap_offset = space.heap.offset,
               .file = rings_.file_number(task.site.file),
               .scope = scopes_.mark()});
    result.task = {TaskId::make(ring_index, number), scopes_.mark()};
    ++scopes_.current().task_count;
    status_->submitted.store_relaxed(++submitted_);
    rings_.line().task(result.task.id.value);
    bool waits = false;
    if (!connect(ref, slot, args, task, result.task.id, waits)) {
      result.task = {};
      return result;
    }
    slot.heap_mark = ring.heap.head();
    slot.args_mark = ring.args.head();
    slot.dep_mark = ring.deps.head();
    slot.fanin_mark = ring.fanin.head();
    if (space.outputs) tell_outputs(args, result);
    watch.submitted(slot);
    watch.described(memory_, slot, task);
    if (task.complete_at_once) {
      complete_at_once(ref, slot);
    } else if (memory_.config().reclaims() && is_ready(slot, waits)) {
      push_ready(ref, slot, result.task.id, args, task);
    }
    // Behind the fence of a task that is ready: a GPU would wait for the host's memory there.
    rings_.tell(ring_index);
    status_->map_entries.store_relaxed(rings_.map().live_count());
    watch.submit_ends(result.task.id, rings_);
    return result;
  }
  // As make_ready. What that reads of the slot is at hand here; a GPU would wait for what it has
  // just written.
  TM_DEVICE void push_ready(SlotRef ref, TaskSlot& slot, TaskId id, GivenArgs args,
                            const TaskPlan& task) {
    if (task.shape == TaskShape::kMix) return make_mix_ready(ref, slot);
    TaskSlot known;  // only what ready_task looks at
    known.block_count = args.block_count();
    known.shape = task.shape;
    known.sync_start = args.sync_start() ? 1 : 0;
    known.kernels[0] = task.aic;
    known.kernels[1] = task.aiv0;
    known.kernels[2] = task.aiv1;
    const TaskShape queue = memory_.config().queue_of(task.shape);
    memory_.ready(queue).template push<Env>(ready_task(ref, known), [&] { return failed(); });
    const std::uint32_t teller = id.local() % memory_.config().scheduler_count;
    memory_.scheduler_bell(teller).template ring<Env>();
  }
  TM_DEVICE TM_NOINLINE_ON_GPU void make_mix_ready(SlotRef ref, TaskSlot& slot) {
    make_ready<Env>(memory_, ref, slot);
  }
  TM_DEVICE TM_NOINLINE_ON_GPU void complete_at_once(SlotRef ref, TaskSlot& slot) {
    complete_task<Env>(memory_, ref);
    slot.linked = kListClosed;
    status_->completed_at_once.store_relaxed(++completed_at_once_);
    // On the host edges may still come: see release_all.
  }

  struct TaskSpace {
    ArgRing::Allocation args;
    HeapRing::Allocation heap;
    bool outputs = false;
  };
  // A slot, and memory for arguments and outputs, each in one piece.
  TM_DEVICE bool take_space(GivenArgs args, const TaskPlan& task, std::uint32_t ring_index,
                            TaskSpace& space) {
    Ring& ring = rings_.ring(ring_index);
    if (ring.window.full() && !wait_for_slot(task, ring_index)) return false;
    const std::uint64_t own_bytes = args_bytes(args);
    if (!take_bytes(task, ring_index, Resource::kArguments, own_bytes, ring.args, space.args))
      return false;
    watch().took(Resource::kArguments, ring_index, ring.args.used_bytes(), own_bytes);
    std::uint64_t bytes = 0;
    TM_UNROLL_NEVER
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
      if (args.tensor(i).access != Access::kOutput) continue;
      TensorRef& made = args.tensor(i).ref;
      made.buffer_bytes = made.view.element_count() * dtype_bytes(made.view.dtype);
      space.outputs = true;
      bytes = add_output_bytes(bytes, made.buffer_bytes);
    }
    if (!space.outputs) return true;
    if (!take_bytes(task, ring_index, Resource::kHeap, bytes, ring.heap, space.heap)) return false;
    watch().took(Resource::kHeap, ring_index, ring.heap.used_bytes(), bytes);
    return true;
  }
  template <class ByteRing>
  TM_DEVICE bool take_bytes(const TaskPlan& task, std::uint32_t ring_index, Resource resource,
                            std::uint64_t bytes, ByteRing& ring,
                            typename ByteRing::Allocation& taken) {
    taken = ring.allocate(bytes);
    if (taken.answer != ByteRing::Answer::kAllocated)
      taken = wait_for_bytes(task, ring_index, resource, bytes, ring);
    return taken.answer == ByteRing::Answer::kAllocated;
  }
  template <class ByteRing>
  TM_DEVICE TM_NOINLINE_ON_GPU typename ByteRing::Allocation wait_for_bytes(
      const TaskPlan& task, std::uint32_t ring_index, Resource resource, std::uint64_t bytes,
      ByteRing& ring) {
    return rings_.wait_for_bytes(request_for(task, ring_index, resource), bytes, ring);
  }
  TM_DEVICE TM_NOINLINE_ON_GPU bool wait_for_slot(const TaskPlan& task, std::uint32_t ring_index) {
    return rings_.wait_for(request_for(task, ring_index, Resource::kTaskWindow),
                           [&] { return !rings_.ring(ring_index).window.full(); });
  }
  TM_DEVICE SpaceRequest request_for(const TaskPlan& task, std::uint32_t ring_index,
                                     Resource resource) {
    const std::uint64_t number = rings_.ring(ring_index).window.head();
    return {.resource = resource,
            .ring = ring_index,
            .task_id = TaskId::make(ring_index, number).value,
            .kernel = task.name,
            .submit = task.site};
  }

  // All look-ups come before all registrations: a task never waits for itself. waits: producers may
  // count it down.
  TM_DEVICE bool connect(SlotRef ref, TaskSlot& slot, GivenArgs args, const TaskPlan& plan,
                         TaskId task, bool& waits) {
    ProducerSet<Env, Watch> producers(rings_, plan, task, ref, ++serial_);
    const bool automatic = memory_.config().automatic_edges();
    if (automatic && args.tensor_count() + args.after_count() > kFewProducers)
      producers.fetch(args);
    const std::uint32_t tensors = args.tensor_count();
    TM_UNROLL_NEVER
    for (std::uint32_t i = 0; i < tensors; ++i) {
      const GivenArgs::Tensor& tensor = args.tensor(i);
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
    if (!args.each_after([&](const TaskHandle& other) { return producers.add_explicit(other); }))
      return false;
    waits = producers.wired();
    slot.fanin_count = producers.fanin_count();
    if (!automatic) return true;
    TM_UNROLL_NEVER
    for (std::uint32_t i = 0; i < tensors; ++i)
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

  TM_DEVICE void tell_outputs(GivenArgs args, Submitted& result) {
    TM_UNROLL_NEVER
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i)
      if (args.tensor(i).access == Access::kOutput) result.add_output(args.tensor(i).ref);
  }

  // With more arguments it pays to ask for the words of all producers together.
  static constexpr std::uint32_t kFewProducers = 6;

  RuntimeMemory memory_;
  RuntimeStatus* status_;
  Watch& watch_;
  ScopeStack scopes_;
  RingSet<Env, Watch> rings_;
  std::uint64_t submitted_ = 0, completed_at_once_ = 0;
  std::uint64_t serial_ = 0;
};

#if TM_ON_GPU
template <UnitEnv Env, GraphWatch Watch>
__device__ inline RingSet<Env, Watch>& rings_of_block() {
  return reinterpret_cast<TaskSubmitter<Env, Watch>*>(unit_place() + sizeof(Watch))->rings();
}
#endif

}  // namespace tidemark
