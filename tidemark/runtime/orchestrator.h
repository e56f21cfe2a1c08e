// SPDX-License-Identifier: Apache-2.0
// What an orchestration is written against: scopes, submits, tensors. One core for the three ways
// to build a graph (build_strategy.h). After an error every call does nothing and returns an empty
// result; the error stands in the latch.
#pragma once

#include <cstdint>

#include "tidemark/runtime/completion.h"
#include "tidemark/runtime/kernel_list.h"
#include "tidemark/runtime/producer_set.h"
#include "tidemark/runtime/slot_filling.h"
#include "tidemark/runtime/submit_check.h"
#include "tidemark/runtime/submitted.h"

namespace tidemark {

template <class Kernels, class Env, class Strategy, class Watch = NoWatch>
class Orchestrator {
 public:
  using Scope = tidemark::Scope<Orchestrator>;

  TM_DEVICE Orchestrator(const RuntimeMemory& memory, RuntimeStatus* status, Watch& watch)
      : memory_(memory), status_(status), watch_(watch), rings_(memory, status, scopes_, watch) {}

  // One kernel on one core, or on many with Args::blocks.
  template <class Kernel>
  TM_DEVICE Submitted submit(Args args, Site site = Site::here()) {
    constexpr KernelInfo kInfo = Kernel::kInfo;
    std::uint16_t kernels[kKernelsMax] = {kNoKernel, kNoKernel, kNoKernel};
    const std::uint32_t place = kInfo.core == CoreType::kAic ? 0 : 1;
    kernels[place] = Kernels::template number_of<Kernel>();
    const TaskShape shape = kInfo.core == CoreType::kAic ? TaskShape::kAic : TaskShape::kAiv;
    if (!checked<Kernel>(args, site)) return {};
    return submit_checked(args, {kernels[0], kernels[1], kernels[2], shape, kInfo.name, site});
  }

  // Up to three kernels on the cores of one cluster with one argument list; void: none.
  template <class Aic, class Aiv0, class Aiv1 = void>
  TM_DEVICE Submitted submit_mix(Args args, Site site = Site::here()) {
    const std::uint16_t aic = number<Aic>(), aiv0 = number<Aiv0>(), aiv1 = number<Aiv1>();
    if (!checked<Aic>(args, site) || !checked<Aiv0>(args, site) || !checked<Aiv1>(args, site))
      return {};
    return submit_checked(args, {aic, aiv0, aiv1, TaskShape::kMix, name<Aic, Aiv0>(), site});
  }

  // A joint: no kernel, complete when everything it waits for is.
  TM_DEVICE Submitted submit_dummy(Args args, Site site = Site::here()) {
    return submit_checked(args,
                          {kNoKernel, kNoKernel, kNoKernel, TaskShape::kDummy, "dummy", site});
  }

  // Memory for later tasks: a task that is complete at once.
  TM_DEVICE Submitted allocate(Args args, Site site = Site::here()) {
    return submit_checked(
        args, {kNoKernel, kNoKernel, kNoKernel, TaskShape::kDummy, "allocate", site, true});
  }

  // host_build_graph: a task with raw words for arguments and explicit edges.
  template <class Kernel>
  TM_DEVICE Submitted add_task(Args args, Site site = Site::here()) {
    constexpr KernelInfo kInfo = Kernel::kInfo;
    const TaskShape shape = kInfo.core == CoreType::kAic ? TaskShape::kAic : TaskShape::kAiv;
    const std::uint16_t kernel = Kernels::template number_of<Kernel>();
    return submit_checked(
        args, {shape == TaskShape::kAic ? kernel : kNoKernel,
               shape == TaskShape::kAiv ? kernel : kNoKernel, kNoKernel, shape, kInfo.name, site});
  }

  // An element of a tensor, once everything that writes it is complete.
  template <class T>
  TM_DEVICE T value(const TensorRef& ref, std::uint64_t index, Site site = Site::here()) {
    if (failed()) return T{};
    if (ref.view.dtype != DTypeOf<T>::value || index >= ref.view.element_count() || !usable(ref)) {
      refuse({.code = ErrorCode::kInvalidArgs,
              .submit = site,
              .text = "value(): no such element, or a handle whose scope is closed"});
      return T{};
    }
    if (!wait_until_written(ref, site)) return T{};
    return TensorSpan<T>(memory_.base(), ref.view)[index];
  }

  // The program gives up.
  TM_DEVICE void fatal(const char* why, Site site = Site::here()) {
    refuse({.code = ErrorCode::kExplicitOrchFatal, .submit = site, .text = why});
  }
  TM_DEVICE bool failed() const { return memory_.control().error.load_acquire() != 0; }

  TM_DEVICE std::uint32_t core_count(CoreType type) const {
    return memory_.config().core_count(type);
  }
  TM_DEVICE std::uint32_t cluster_count() const { return memory_.config().cluster_count; }

  // For Scope. False: refused, or the run is ending.
  TM_DEVICE bool open_scope(const Site& site) {
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
    return true;
  }
  TM_DEVICE void close_scope() { scopes_.close(); }

  // Runs a whole orchestration and waits for its tasks.
  template <class Orchestration>
  TM_DEVICE void run(const Orchestration& orchestration) {
    build(orchestration);
    if constexpr (Strategy::kReclaims) wait_until_all_complete();
    leave();
  }
  // Only the graph; somebody else waits.
  template <class Orchestration>
  TM_DEVICE void build(const Orchestration& orchestration) {
    status_->begin_ticks.store_relaxed(Env::now_ticks());
    rings_.line().enter(UnitState::kBusy, Env::now_ticks());
    orchestration(*this);
    memory_.control().submitted.store_release(submitted_);
    memory_.control().orchestration_done.store_release(1);
    status_->orchestration_done.store_release(1);
    for (std::uint32_t i = 0; i < memory_.config().scheduler_count; ++i)
      memory_.scheduler_bell(i).template ring<Env>();
  }
  TM_DEVICE void leave() {
    status_->end_ticks.store_relaxed(Env::now_ticks());
    rings_.line().enter(UnitState::kLeft, Env::now_ticks());
  }

  TM_DEVICE RingSet<Env, Strategy, Watch>& rings() { return rings_; }
  TM_DEVICE Watch& watch() { return watch_; }
  TM_DEVICE std::uint64_t submitted_count() const { return submitted_; }

 private:
  template <class Kernel>
  static constexpr std::uint16_t number() {
    if constexpr (std::is_void_v<Kernel>) {
      return kNoKernel;
    } else {
      return Kernels::template number_of<Kernel>();
    }
  }
  template <class First, class Second>
  TM_DEVICE static const char* name() {
    if constexpr (std::is_void_v<First>) {
      constexpr KernelInfo kInfo = Second::kInfo;
      return kInfo.name;
    } else {
      constexpr KernelInfo kInfo = First::kInfo;
      return kInfo.name;
    }
  }

  TM_DEVICE void refuse(ErrorDetails details) {
    details.scope = scopes_.site();
    rings_.latch().latch(details);
  }

  template <class Kernel>
  TM_DEVICE bool checked(Args& args, const Site& site) {
    if constexpr (!std::is_void_v<Kernel>) {
      if (failed()) return false;
      constexpr KernelInfo kInfo = Kernel::kInfo;
      const ArgProblem problem = check_against(kInfo, args);
      if (problem.text == nullptr) return true;
      refuse({.code = ErrorCode::kInvalidArgs,
              .arg = problem.arg,
              .submit = site,
              .kernel = kInfo.name,
              .text = problem.text});
      return false;
    }
    return true;
  }

  TM_DEVICE bool usable(const TensorRef& ref) const {
    return ref.exists && (ref.owner == kNoOwner || scopes_.is_open(ref.scope));
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
    if (scopes_.empty()) return bad(~0u, "submitted outside of every scope");
    if (args.too_many())
      return bad(~0u, "more than 32 tensors, 16 scalars or 32 single dependencies");
    if (args.tensor_behind_scalar()) return bad(~0u, "a tensor behind a scalar");
    if (args.block_count() == 0) return bad(~0u, "a task of no blocks");
    std::uint32_t outputs = 0;
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
      const Args::Tensor& tensor = args.tensor(i);
      if (tensor.access == Access::kOutput) {
        if (++outputs > kOutputsMax) return bad(i, "more than 8 outputs");
        if (!shape_is_sane(tensor.ref.view.shape))
          return bad(i, "an output of more than 5 dimensions or 2^63 elements");
      } else if (!tensor.ref.exists) {
        return bad(i, "a tensor that no submit made");
      } else if (!usable(tensor.ref)) {
        return bad(i, "a handle whose scope is closed");
      }
    }
    for (std::uint32_t i = 0; i < args.after_count(); ++i)
      if (!scopes_.is_open(args.after_at(i).scope))
        return bad(~0u, "after(): a handle whose scope is closed");
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

  TM_DEVICE Submitted submit_checked(Args& args, const TaskPlan& task) {
    if (failed() || !well_formed(args, task)) return {};
    const std::uint32_t ring_index = scopes_.ring();
    Ring& ring = rings_.ring(ring_index);
    const SpaceRequest request{
        .ring = ring_index,
        .task_id = TaskId::make(ring_index, static_cast<std::uint32_t>(ring.window.head())).value,
        .kernel = task.name,
        .submit = task.site};
    rings_.reclaim(ring_index);
    HeapRing::Allocation heap;
    if (!take_space(args, request, ring, heap)) return {};
    const SlotRef ref = rings_.ref_of(ring_index, ring.window.push());
    TaskSlot& slot = memory_.slot(ref);
    fill_slot(memory_, slot, args, task,
              {.ring = ring_index,
               .number = ring.window.head() - 1,
               .args_offset = ring.args.take(args_bytes(args)),
               .heap_offset = heap.offset,
               .scope = scopes_.mark()});
    ++scopes_.current().task_count;
    ++submitted_;
    status_->submitted.store_relaxed(submitted_);
    rings_.line().task(slot.id.value);
    if (!connect(ref, slot, args, request)) return {};
    slot.heap_mark = ring.heap.head();
    slot.dep_mark = ring.deps.head();
    slot.fanin_mark = ring.fanin.head();
    rings_.tell(ring_index);
    status_->map_entries.store_relaxed(rings_.map().live_count());
    const Submitted result = result_of(slot, args);
    watch_.submitted(slot);
    if (task.complete_at_once) {
      complete_task<Env>(memory_, ref);
      status_->completed_at_once.store_relaxed(status_->completed_at_once.load_own() + 1);
    } else if (slot.pending.subtract(1) == 1) {
      make_ready<Env>(memory_, ref, slot);
    }
    return result;
  }

  // A slot and memory for the outputs, in one piece.
  TM_DEVICE bool take_space(Args& args, SpaceRequest request, Ring& ring,
                            HeapRing::Allocation& heap) {
    request.resource = Resource::kTaskWindow;
    if (!rings_.wait_for(request, [&] { return !ring.window.full(); })) return false;
    std::uint64_t bytes = 0;
    bool outputs = false;
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
      if (args.tensor(i).access != Access::kOutput) continue;
      outputs = true;
      bytes = add_output_bytes(bytes, args.tensor(i).ref.view);
    }
    if (!outputs) return true;
    request.resource = Resource::kHeap;
    request.requested = bytes;
    if (bytes > ring.heap.capacity()) {
      refuse({.code = ErrorCode::kRequestTooLarge,
              .resource = Resource::kHeap,
              .ring = request.ring,
              .capacity = ring.heap.capacity(),
              .requested = bytes,
              .task_id = request.task_id,
              .submit = request.submit,
              .kernel = request.kernel});
      return false;
    }
    return rings_.wait_for(request, [&] {
      heap = ring.heap.allocate(bytes);
      return heap.answer == HeapRing::Answer::kAllocated;
    });
  }

  // All look-ups come before all registrations: a task never waits for itself.
  TM_DEVICE bool connect(SlotRef ref, TaskSlot& slot, Args& args, const SpaceRequest& request) {
    ProducerSet<Env, Strategy, Watch> producers(memory_, rings_, watch_, request, ref, ++serial_);
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
      const Args::Tensor& tensor = args.tensor(i);
      if (tensor.access == Access::kOutput) continue;
      if constexpr (!Strategy::kAutomatic) {
        if (!producers.retain_creator(tensor.ref)) return false;
      } else {
        if (!producers.add_creator(tensor.ref, i)) return false;  // it wrote all of the buffer
        if (tensor.access != Access::kNoDep &&
            !producers.add_overlapping(tensor.ref.view, tensor.access, i))
          return false;
      }
    }
    for (std::uint32_t i = 0; i < args.after_count(); ++i)
      if (!producers.add_explicit(args.after_at(i))) return false;
    if constexpr (Strategy::kAutomatic) {
      for (std::uint32_t i = 0; i < args.tensor_count(); ++i)
        if (args.tensor(i).access != Access::kOutput &&
            !producers.register_access(args.tensor(i).ref, args.tensor(i).access))
          return false;
    }
    static_cast<void>(slot);
    return true;
  }

  TM_DEVICE Submitted result_of(const TaskSlot& slot, Args& args) {
    Submitted result;
    result.task = {slot.id, scopes_.mark()};
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i)
      if (args.tensor(i).access == Access::kOutput) result.add_output(args.tensor(i).ref);
    return result;
  }

  TM_DEVICE bool wait_until_written(const TensorRef& ref, const Site& site) {
    if (rings_.is_written(ref)) return true;
    if constexpr (!Strategy::kReclaims) {
      refuse({.code = ErrorCode::kInvalidArgs,
              .submit = site,
              .text = "value(): a graph built on the host has no values yet"});
      return false;
    }
    const std::uint64_t begin_ticks = Env::now_ticks();
    const std::uint64_t limit_ticks = memory_.config().task_timeout_ticks;
    rings_.line().enter(UnitState::kWaiting, begin_ticks);
    for (std::uint32_t round = 0; !rings_.is_written(ref); ++round) {
      if (failed()) return false;
      const std::uint64_t waited_ticks = Env::now_ticks() - begin_ticks;
      if (limit_ticks > 0 && waited_ticks > limit_ticks) {
        refuse({.code = ErrorCode::kTensorWaitTimeout,
                .used = waited_ticks,
                .capacity = limit_ticks,
                .task_id = ref.owner,
                .submit = site});
        return false;
      }
      memory_.control().orchestrator.template wait<Env>(round,
                                                        [&] { return rings_.is_written(ref); });
    }
    rings_.line().enter(UnitState::kBusy, Env::now_ticks());
    return true;
  }

  // Also gives back what the last tasks held.
  TM_DEVICE void wait_until_all_complete() {
    rings_.line().enter(UnitState::kWaiting, Env::now_ticks());
    const auto all_complete = [&] {
      return memory_.control().completed.load_acquire() == submitted_ || failed();
    };
    for (std::uint32_t round = 0; !all_complete(); ++round)
      memory_.control().orchestrator.template wait<Env>(round, all_complete);
    if (failed()) return;
    rings_.reclaim_all();
    rings_.reclaim_all();
    for (std::uint32_t i = 0; i < kRingCount; ++i) rings_.tell(i);
    status_->map_entries.store_relaxed(rings_.map().live_count());
  }

  RuntimeMemory memory_;
  RuntimeStatus* status_;
  Watch& watch_;
  ScopeStack scopes_;
  RingSet<Env, Strategy, Watch> rings_;
  std::uint64_t submitted_ = 0;
  std::uint64_t serial_ = 0;
};

}  // namespace tidemark
