// SPDX-License-Identifier: Apache-2.0
// What an orchestration is written against: scopes, submits, tensors. One core for the three ways
// to build a graph (BuildKind). After an error every call does nothing and returns an empty
// result; the error is in the latch.
#pragma once

#include <cstdint>

#include "tidemark/base/watched_time.h"
#include "tidemark/runtime/graph/task_submitter.h"
#include "tidemark/runtime/kernel_list.h"
#include "tidemark/runtime/units/iterations.h"

namespace tidemark {

template <class Kernels, UnitEnv Env, GraphWatch Watch = NoWatch>
class Orchestrator : public TaskSubmitter<Env, Watch> {
  using Core = TaskSubmitter<Env, Watch>;

 public:
  using Scope = tidemark::Scope<Orchestrator>;
  using Core::failed;

  TM_DEVICE Orchestrator(const RuntimeMemory& memory, RuntimeStatus* status, Watch& watch)
      : Core(memory, status, watch) {}

  // Arguments are taken as they come from the chain of calls: they are too large to be copied.
  // One kernel on one core, or on many with Args::blocks.
  template <class Kernel, class AnyArgs>
  TM_DEVICE Submitted submit(AnyArgs&& args, Site site = Site::here()) {
    if (!checked<Kernel>(args.given(), site)) return {};
    return submit_undeclared<Kernel>(args, site);
  }

  // A kernel whose arguments are not declared: for programs that measure the runtime itself.
  template <class Kernel>
  TM_DEVICE Submitted submit_undeclared(Args& args, Site site = Site::here(),
                                        bool raw_words = false) {
    constexpr const char* kName = Kernel::kInfo.name;
    const std::uint16_t kernel = Kernels::template number_of<Kernel>();
    constexpr bool kAic = Kernel::kInfo.core == CoreType::kAic;
    return submit_checked(
        args.given(), {kAic ? kernel : kNoKernel, kAic ? kNoKernel : kernel, kNoKernel,
                       kAic ? TaskShape::kAic : TaskShape::kAiv, kName, site, false, raw_words});
  }

  // Up to three kernels on the cores of one cluster with one argument list; void: none.
  template <class Aic, class Aiv0, class Aiv1 = void, class AnyArgs>
  TM_DEVICE Submitted submit_mix(AnyArgs&& args, Site site = Site::here()) {
    static_assert(runs_on<Aic>(CoreType::kAic) && runs_on<Aiv0>(CoreType::kAiv) &&
                      runs_on<Aiv1>(CoreType::kAiv),
                  "submit_mix<Aic, Aiv0, Aiv1>: a kernel's kInfo.core is not that of its place");
    const std::uint16_t aic = number<Aic>(), aiv0 = number<Aiv0>(), aiv1 = number<Aiv1>();
    const GivenArgs given = args.given();
    if (!checked<Aic>(given, site) || !checked<Aiv0>(given, site) || !checked<Aiv1>(given, site))
      return {};
    return submit_checked(given, {aic, aiv0, aiv1, TaskShape::kMix, name<Aic, Aiv0>(), site});
  }

  // A joint: no kernel, complete when everything it waits for is.
  template <class AnyArgs>
  TM_DEVICE Submitted submit_dummy(AnyArgs&& args, Site site = Site::here()) {
    return submit_checked(args.given(),
                          {kNoKernel, kNoKernel, kNoKernel, TaskShape::kDummy, "dummy", site});
  }

  // Memory for later tasks: a task that is complete at once.
  template <class AnyArgs>
  TM_DEVICE Submitted allocate(AnyArgs&& args, Site site = Site::here()) {
    return submit_checked(
        args.given(), {kNoKernel, kNoKernel, kNoKernel, TaskShape::kDummy, "allocate", site, true});
  }

  // host_build_graph: a task whose arguments are raw words (Args::scalar), with explicit edges.
  // What the words mean may be said besides; a task without it runs all the same.
  template <class Kernel, class AnyArgs>
  TM_DEVICE Submitted add_task(AnyArgs&& args, Site site = Site::here()) {
    return add_task_with_tensor_info<Kernel>(args, nullptr, 0, site);
  }
  template <class Kernel, class AnyArgs>
  TM_DEVICE Submitted add_task_with_tensor_info(AnyArgs&& args, const TensorInfo* infos,
                                                std::uint32_t count, Site site = Site::here()) {
    if (!builds_on_host("add_task", site)) return {};
    const Submitted made = submit_undeclared<Kernel>(args, site, true);
    if (made.valid() && count > 0) set_tensor_info_to_task(made.task, infos, count, site);
    return made;
  }
  TM_DEVICE void set_tensor_info_to_task(const TaskHandle& task, const TensorInfo* infos,
                                         std::uint32_t count, Site site = Site::here()) {
    if (!builds_on_host("set_tensor_info_to_task", site) || !is_live(task, site)) return;
    Ring& ring = rings_.ring(task.id.ring());
    TaskSlot& slot = memory_.slot(rings_.ref_of(task.id.ring(), task.id.local()));
    if (count > kTensorsMax || slot.info_count > 0)
      return refuse({.code = ErrorCode::kInvalidArgs,
                     .submit = site,
                     .text = "set_tensor_info_to_task: more than 32 tensors, or said before"});
    for (std::uint32_t i = 0; i < count; ++i)
      if (infos[i].tensor.slip != ViewSlip::kNone || !lies_in_its_memory(infos[i].tensor))
        return refuse(
            {.code = ErrorCode::kInvalidArgs,
             .arg = i,
             .submit = site,
             .kernel = "set_tensor_info_to_task",
             .text = to_text(infos[i].tensor.slip == ViewSlip::kNone ? ViewSlip::kBeyondBuffer
                                                                     : infos[i].tensor.slip)});
    const std::uint64_t bytes = count * sizeof(StoredTensor);
    ArgRing::Allocation space = ring.args.allocate(bytes);
    if (space.answer != ArgRing::Answer::kAllocated)
      space = rings_.wait_for_bytes({.resource = Resource::kArguments,
                                     .ring = task.id.ring(),
                                     .task_id = task.id.value,
                                     .kernel = "set_tensor_info_to_task",
                                     .submit = site},
                                    bytes, ring.args);
    if (space.answer != ArgRing::Answer::kAllocated) return;
    watch_.took(Resource::kArguments, task.id.ring(), ring.args.used_bytes(),
                count * sizeof(StoredTensor));
    slot.info_offset = memory_.layout().rings[task.id.ring()].args_offset + space.offset;
    slot.info_count = static_cast<std::uint16_t>(count);
    auto* stored = memory_.template at<StoredTensor>(slot.info_offset);
    for (std::uint32_t i = 0; i < count; ++i)
      stored[i] = {.view = infos[i].tensor.view,
                   .owner = infos[i].tensor.owner,
                   .access = infos[i].access,
                   .output_index = 0,
                   .reserved = {}};
    watch_.informed(memory_, slot);
  }
  TM_DEVICE void add_successor(const TaskHandle& producer, const TaskHandle& consumer,
                               Site site = Site::here()) {
    if (!builds_on_host("add_successor", site)) return;
    if (!is_live(producer, site) || !is_live(consumer, site)) return;
    const SlotRef ref = rings_.ref_of(consumer.id.ring(), consumer.id.local());
    ErrorText text;
    if (producer.id == consumer.id)
      text.add("task ").add(consumer.id.value).add(" would wait for itself");
    else if (memory_.slot(ref).state.load_relaxed() == TaskState::kCompleted)
      text.add("task ").add(consumer.id.value).add(" is complete at once, so it waits for nobody");
    if (*text.text() != 0)
      return refuse({.code = ErrorCode::kInvalidArgs,
                     .task_id = consumer.id.value,
                     .submit = site,
                     .kernel = "add_successor",
                     .text = text.text()});
    const TaskPlan plan{kNoKernel, kNoKernel, kNoKernel, TaskShape::kDummy, "add_successor", site};
    ProducerSet<Env, Watch>(rings_, plan, consumer.id, ref, ++serial_).add_late(producer);
  }

  // An element of a tensor, once everything that writes it is complete.
  template <class T>
  TM_DEVICE T value(const TensorRef& ref, std::uint64_t index, Site site = Site::here()) {
    if (failed()) return T{};
    if (ref.slip != ViewSlip::kNone || ref.view.dtype != dtype_of<T>() ||
        index >= ref.view.element_count() || !usable(ref) || !lies_in_its_memory(ref)) {
      refuse({.code = ErrorCode::kInvalidArgs,
              .submit = site,
              .text = ref.slip != ViewSlip::kNone
                          ? to_text(ref.slip)
                          : "value(): no such element, or a handle whose scope is closed"});
      return T{};
    }
    if (!wait_until_written(ref, site)) return T{};
    return TensorSpan<T>(memory_.base(), ref.view)[index];
  }

  // The program gives up.
  TM_DEVICE void fatal(const char* why, Site site = Site::here()) {
    refuse(
        {.code = ErrorCode::kExplicitOrchFatal, .submit = site, .text = why == nullptr ? "" : why});
  }

  // A program that waits for something of its own lets others run meanwhile.
  TM_DEVICE static void give_way(std::uint32_t round) { Env::pause(round); }

  TM_DEVICE std::uint32_t core_count(CoreType type) const {
    return memory_.config().core_count(type);
  }
  TM_DEVICE std::uint32_t cluster_count() const { return memory_.config().cluster_count; }

  // Runs a whole orchestration and waits for its tasks.
  template <class Orchestration>
  TM_DEVICE void run(const Orchestration& orchestration) {
    build(orchestration);
    if (memory_.config().reclaims()) wait_until_all_complete();
    leave();
  }
  // Only the graph; somebody else waits.
  template <class Orchestration>
  TM_DEVICE void build(const Orchestration& orchestration) {
    status_->begin_ticks.store_relaxed(Env::now_ticks());
    rings_.line().enter(UnitState::kBusy, Env::now_ticks());
    orchestration(*this);
    if (!memory_.config().reclaims()) release_all();
    // [graph built]: its last task, and how many there are
    memory_.control().submitted.store_release(submitted_ * repeat());
    memory_.control().orchestration_done.store_release(1);
    status_->orchestration_done.store_release(1);
    for (std::uint32_t i = 0; i < memory_.config().scheduler_count; ++i)
      memory_.scheduler_bell(i).template ring<Env>();
  }
  TM_DEVICE void leave() {
    watch_.ended();
    status_->end_ticks.store_relaxed(Env::now_ticks());
    rings_.line().leave(Env::now_ticks());
  }

  TM_DEVICE RingSet<Env, Watch>& rings() { return Core::rings(); }
  TM_DEVICE Watch& watch() { return Core::watch(); }
  // For marks and counters of the program itself.
  TM_DEVICE decltype(auto) recorder() { return watch_.recorder(); }
  TM_DEVICE std::uint64_t submitted_count() const { return submitted_; }

 private:
  template <class Kernel>
  TM_DEVICE static constexpr bool runs_on(CoreType core) {
    if constexpr (std::is_void_v<Kernel>) {
      return true;
    } else {
      return Kernel::kInfo.core == core;
    }
  }
  template <class Kernel>
  TM_DEVICE static constexpr std::uint16_t number() {
    if constexpr (std::is_void_v<Kernel>) {
      return kNoKernel;
    } else {
      return Kernels::template number_of<Kernel>();
    }
  }
  template <class First, class Second>
  TM_DEVICE static const char* name() {
    if constexpr (std::is_void_v<First>) {
      constexpr const char* kName = Second::kInfo.name;
      return kName;
    } else {
      constexpr const char* kName = First::kInfo.name;
      return kName;
    }
  }

  // The graph is whole: tasks that wait for nobody are ready.
  TM_DEVICE TM_NOINLINE void release_all() {
    if constexpr (!requires { Env::kBuildsNoGraphAhead; }) {
      LateEdges<Env, Watch> edges(memory_, rings_, watch_);
      edges.settle(serial_);
      ErrorText text;
      const std::uint32_t task = edges.find_circle(text);
      if (task != LateEdges<Env, Watch>::kNoTask) return refuse_circle(memory_.slot({task}), text);
      for (std::uint32_t ring = 0; ring < kRingCount; ++ring)
        for (std::uint64_t number = 0; number < rings_.ring(ring).window.head(); ++number) {
          const SlotRef ref = rings_.ref_of(ring, number);
          TaskSlot& slot = memory_.slot(ref);
          // pairs with [task complete], which is this thread's own here
          if (slot.state.load_acquire() == TaskState::kCompleted) continue;
          slot.pending_first = slot.pending.load_relaxed() - 1;
          // [producer done]; pairs with [producer done]
          if (slot.pending.subtract_acq_rel(1) != 1) continue;
          if (memory_.config().repeats()) note_root(memory_, ref);
          make_ready<Env>(memory_, ref, slot);
        }
      tell_iterations();
    }
  }
  // Counts are of all iterations.
  TM_DEVICE void tell_iterations() {
    note_iterations(memory_, submitted_, completed_at_once_);
    status_->submitted.store_relaxed(submitted_ * repeat());
    status_->completed_at_once.store_relaxed(completed_at_once_ * repeat());
    status_->repeat.store_relaxed(repeat());
  }
  TM_DEVICE std::uint64_t repeat() const {
    return memory_.config().reclaims() ? 1 : memory_.config().repeat;
  }
  TM_DEVICE void refuse_circle(const TaskSlot& slot, const ErrorText& text) {
    ErrorDetails details{
        .code = ErrorCode::kInvalidArgs, .task_id = slot.id.value, .text = text.text()};
    if (slot.submit_file < kSiteFilesMax)
      details.submit = {status_->site_files[slot.submit_file], slot.submit_line};
    for (const std::uint16_t number : slot.kernels)
      if (number != kNoKernel) details.kernel = Kernels::name(number);
    refuse(details);
  }
  TM_DEVICE bool builds_on_host(const char* call, const Site& site) {
    if (failed()) return false;
    if (!memory_.config().reclaims()) return true;
    refuse({.code = ErrorCode::kInvalidArgs,
            .submit = site,
            .kernel = call,
            .text = "only host_build_graph has this call"});
    return false;
  }
  TM_DEVICE bool is_live(const TaskHandle& task, const Site& site) {
    if (scopes_.is_open(task.scope)) return true;
    refuse({.code = ErrorCode::kInvalidArgs,
            .submit = site,
            .text = "a handle whose scope is closed"});
    return false;
  }

  // A declaration takes a kilobyte: in a frame of its own, and only where it is read.
  template <class Kernel>
  TM_DEVICE TM_NOINLINE static ArgProblem dump_names(GivenArgs args) {
    constexpr KernelInfo kInfo = Kernel::kInfo;
    return resolve_dump_names(kInfo, args);
  }
  template <class Kernel>
  TM_DEVICE bool checked(GivenArgs args, const Site& site) {
    if constexpr (!std::is_void_v<Kernel>) {
      constexpr const char* kName = Kernel::kInfo.name;
      ArgProblem problem = check_declared<Kernel>(args);
      if (problem.text == nullptr && args.dump_says_which()) problem = dump_names<Kernel>(args);
      if (problem.text == nullptr) return true;
      refuse({.code = ErrorCode::kInvalidArgs,
              .arg = problem.arg,
              .submit = site,
              .kernel = kName,
              .text = problem.text});
      return false;
    }
    return true;
  }

  TM_DEVICE TM_NOINLINE bool wait_until_written(const TensorRef& ref, const Site& site) {
    if (rings_.is_written(ref)) return true;
    if (!memory_.config().reclaims()) {
      refuse({.code = ErrorCode::kInvalidArgs,
              .submit = site,
              .text = "value(): a graph built on the host has no values yet"});
      return false;
    }
    const std::uint64_t limit_ticks = memory_.config().task_timeout_ticks;
    WatchedTime time(limit_ticks / 8);
    std::uint64_t completed = completed_count(), waited_before_ticks = 0;
    rings_.line().wait_for(Resource::kNone, 0, Env::now_ticks());
    for (std::uint32_t round = 0; !rings_.is_written(ref); ++round) {
      if (failed()) return false;
      const std::uint64_t watched_ticks = time.look(Env::now_ticks());
      // Slow is not stuck: whenever a task completes, the limit begins anew.
      const std::uint64_t completed_now = completed_count();
      if (completed_now != completed) waited_before_ticks = watched_ticks;
      completed = completed_now;
      const std::uint64_t waited_ticks = watched_ticks - waited_before_ticks;
      if (limit_ticks > 0 && waited_ticks > limit_ticks) {
        refuse({.code = ErrorCode::kTensorWaitTimeout,
                .used = waited_ticks,
                .capacity = limit_ticks,
                .task_id = ref.owner,
                .submit = site});
        return false;
      }
      Env::wait_for_space(round);
    }
    rings_.line().enter(UnitState::kBusy, Env::now_ticks());
    return true;
  }

  TM_DEVICE std::uint64_t completed_count() const {
    return memory_.control().completed.load_acquire();  // pairs with [completed counted]
  }
  // Also gives back what the last tasks held.
  TM_DEVICE TM_NOINLINE void wait_until_all_complete() {
    rings_.line().wait_for(Resource::kNone, 0, Env::now_ticks());
    const auto all_complete = [&] { return completed_count() == submitted_ || failed(); };
    for (std::uint32_t round = 0; !all_complete(); ++round)
      memory_.control().orchestrator.template wait<Env>(round, all_complete);
    if (failed()) return;
    rings_.reclaim_all();
    for (std::uint32_t i = 0; i < kRingCount; ++i) rings_.tell(i);
    status_->map_entries.store_relaxed(rings_.map().live_count());
  }

  using Core::completed_at_once_;
  using Core::lies_in_its_memory;
  using Core::memory_;
  using Core::refuse;
  using Core::rings_;
  using Core::scopes_;
  using Core::serial_;
  using Core::status_;
  using Core::submit_checked;
  using Core::submitted_;
  using Core::usable;
  using Core::watch_;
};

}  // namespace tidemark
