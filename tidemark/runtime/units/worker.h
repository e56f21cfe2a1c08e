// SPDX-License-Identifier: Apache-2.0
// A core: takes dispatches from its mailbox in their order, runs the kernel, answers. The worker is
// thread 0 of the core's block; where the block has more, they follow it (kernel_call.h).
#pragma once

#include <cstdint>

#include "tidemark/runtime/dump/tensor_dumper.h"
#include "tidemark/runtime/error_latch.h"
#include "tidemark/runtime/runtime_memory.h"
#include "tidemark/runtime/units/kernel_call.h"
#include "tidemark/runtime/units/unit_line.h"
#include "tidemark/runtime/units/unit_recorder.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {

// What of it knows neither kernels nor block, and is compiled once.
template <UnitEnv Env, class Dumper = TensorDumper<Env>>
class WorkerCore {
 public:
  TM_DEVICE TM_NOINLINE_ON_GPU WorkerCore(const RuntimeMemory& memory, RuntimeStatus* status,
                                          std::uint32_t core, std::uint32_t scheduler,
                                          const RegionView* region)
      : memory_(memory),
        status_(status),
        latch_(&memory.control(), status),
        mailbox_(memory.mailbox(core)),
        bell_(memory.scheduler_bell(scheduler)),
        line_(status, memory.config().units().core(core)),
        core_(core),
        spans_(recorder_of<Recorder<TaskSpan, Env>>(region, memory.config().lanes().spans(core),
                                                    line_.recorder())),
        dumper_(memory, region, core, line_.recorder()) {}

  using Call = CoreCall<Dumper>;

  // Waits for what to do next; `call` is that of the last time. False: there will be no more. After
  // an error what is dispatched is left undone.
  TM_DEVICE TM_NOINLINE_ON_GPU bool next(Call& call) {
    if (due_ != CoreJob::kNothing) [[unlikely]] {
      call.job = due_;
      return true;
    }
    for (std::uint32_t round = 0; !is_time_to_look(round) || !latch_.set();) {
      // An acquire in every round would be dear on a GPU; pairs with [dispatched].
      if (mailbox_.dispatched.load_relaxed() == token_ ||
          mailbox_.dispatched.load_acquire() == token_) {
        // pairs with [sent home]
        if (is_time_to_look(round) && mailbox_.leave.load_acquire() != 0) return false;
        mailbox_.doorbell.template wait<Env>(round++, [&] {
          // pairs with [dispatched] and [sent home]
          return mailbox_.dispatched.load_acquire() != token_ || mailbox_.leave.load_acquire() != 0;
        });
        continue;
      }
      round = 0;
      DispatchCell& cell = memory_.dispatch(core_, token_);
      if (mailbox_.core_runs(token_, cell)) return begin_part(cell.dispatch, call);
      answer();
    }
    return false;
  }

 protected:
  // At what changes once in a run, and is as far away as the mailbox: at first, then now and then.
  TM_DEVICE static constexpr bool is_time_to_look(std::uint32_t round) {
    return kSleeps<Env> || round % kLoadsTogether<Env> == 0;
  }
  TM_DEVICE TM_NOINLINE_ON_GPU void end_call() {
    if (dumper_.enabled()) [[unlikely]] {
      if (!is_last_job()) return;
    } else if (spans_.enabled()) {
      end_ticks_ = Env::now_ticks();
    }
    end_part();
    line_.count(++run_);
    answer();
  }

  TM_DEVICE void answer() {
    mailbox_.finished.store_release(++token_);  // [finished]
    order_store_before_look_of<Env>();          // also before the look at what is contested
    bell_.template ring_behind_fence<Env>();
    if (mailbox_.dispatched.load_relaxed() == token_)
      line_.enter(UnitState::kIdle, Env::now_ticks());
  }

  // False: the run ended before it began.
  TM_DEVICE bool begin_part(const Dispatch& dispatch, Call& call) {
    part_ = dispatch;
    TaskSlot& slot = memory_.slot({part_.task});
    if ((part_.flags & kStartsTogether) != 0 && !await_others(slot, part_)) return false;
    begin_ticks_ = spans_.enabled() ? Env::ordered_ticks() : Env::now_ticks();
    line_.take(slot, part_.kernel, part_.block, UnitState::kBusy, begin_ticks_);
    call.kernel = part_.kernel;
    TaskArgs& args = call.args;
    args = {memory_.base(), memory_.tensors(slot), slot.tensor_count, memory_.scalars(slot),
            slot.scalar_count};
    args.block = part_.block;
    args.block_count = slot.block_count;
    args.core = core_;
    args.task = slot.id;
    args.share_slip(slip_);
    if (dumper_.enabled()) [[unlikely]] {
      line_.enter(UnitState::kCopying, begin_ticks_);
      call.dumper = &dumper_;
      call.slot = &slot;
      call.job = due_ = CoreJob::kCaptureBefore;
    }
    return true;
  }
  // Of a part that is dumped: which job is next, and how the line and the times go with it.
  TM_DEVICE bool is_last_job() {
    const std::uint64_t now_ticks = Env::now_ticks();
    if (due_ == CoreJob::kCaptureBefore) {
      begin_ticks_ = now_ticks;
      line_.enter(UnitState::kBusy, now_ticks);
      due_ = CoreJob::kRun;
    } else if (due_ == CoreJob::kRun) {
      end_ticks_ = now_ticks;
      line_.enter(UnitState::kCopying, now_ticks);
      due_ = CoreJob::kCaptureAfter;
    } else {
      due_ = CoreJob::kNothing;
    }
    return due_ == CoreJob::kNothing;
  }
  TM_DEVICE void end_part() {
    const TaskSlot& slot = memory_.slot({part_.task});
    if (spans_.enabled())
      spans_.write({.task_id = slot.id.value,
                    .begin_ticks = begin_ticks_,
                    .end_ticks = end_ticks_,
                    .block = part_.block,
                    .kernel = part_.kernel,
                    .core = static_cast<std::uint16_t>(core_)});
  }

  // Blocks that start together begin, and their time does, when the last one has its core.
  TM_DEVICE bool await_others(const TaskSlot& slot, const Dispatch& dispatch) {
    // pairs with [block placed]
    const auto all_placed = [&] { return slot.placed.load_acquire() == slot.block_count; };
    const auto failed = [&] { return latch_.set(); };
    if (all_placed()) return true;
    line_.take(slot, dispatch.kernel, dispatch.block, UnitState::kWaiting, Env::now_ticks());
    for (std::uint32_t round = 0; !all_placed(); ++round) {
      if (failed()) return false;
      mailbox_.doorbell.template wait<Env>(round, [&] { return all_placed() || failed(); });
    }
    return true;
  }

  RuntimeMemory memory_;
  RuntimeStatus* status_;
  ErrorLatch latch_;
  Mailbox& mailbox_;
  Doorbell& bell_;
  UnitLine line_;
  std::uint32_t core_;
  Recorder<TaskSpan, Env> spans_;
  Dumper dumper_;
  DeviceWord<std::uint32_t>* slip_ = nullptr;  // of the block: argument not got by a kernel, + 1
  std::uint64_t token_ = 0;
  std::uint64_t run_ = 0;  // dispatches, but for those it passed over
  Dispatch part_{};        // that runs
  std::uint64_t begin_ticks_ = 0, end_ticks_ = 0;
  CoreJob due_ = CoreJob::kNothing;  // of a part that is dumped: what is done now, or next
};

template <class Kernels, UnitEnv Env, KernelBlock B, class Dumper = TensorDumper<Env>>
class Worker : public WorkerCore<Env, Dumper> {
  using Core = WorkerCore<Env, Dumper>;

 public:
  using Call = typename Core::Call;

  TM_DEVICE Worker(const RuntimeMemory& memory, RuntimeStatus* status, std::uint32_t core,
                   std::uint32_t scheduler, const RegionView* region = nullptr)
      : Core(memory, status, core, scheduler, region) {}

  // Until the scheduler says that there will be no more, or the run is ending.
  TM_DEVICE void run(B& block) {
    start(block);
    for (Call call; Core::next(call); finish(block)) run_together<Kernels>(block, call);
    send_followers_home<Dumper>(block);
    leave(block);
  }

  // The same in pieces, where all threads of the block must come to each call by one way.
  TM_DEVICE void start(B& block) {
    slip_ = &block.common_word();
    block.recorder().tell_waits_to(line_.recorder());
    line_.enter(UnitState::kIdle, Env::now_ticks());
  }
  // All threads have left the job of the last next().
  TM_DEVICE void finish(B& block) {
    if (slip_->load_relaxed() != 0) tell_slip();
    if (block.shared_overrun() != 0) tell_overrun(block.shared_overrun());
    Core::end_call();
  }
  TM_DEVICE void leave(B& block) {
    spans_.close();
    dumper_.close();
    block.recorder().close();
    block.recorder().tell_waits_to(nullptr);
    line_.leave(Env::now_ticks());
  }

 private:
  // The kernel asked for an argument that its task does not have.
  TM_DEVICE TM_NOINLINE void tell_slip() {
    refuse(
        {.arg = slip_->load_relaxed() - 1,
         .text = "the kernel takes an argument that the task has not, or has with another dtype"});
    slip_->store_relaxed(0);
  }
  TM_DEVICE TM_NOINLINE void tell_overrun(std::uint64_t bytes) {
    refuse({.capacity = Kernels::shared_bytes(part_.kernel),
            .requested = bytes,
            .text = "more shared memory than its kInfo declares"});
  }
  TM_DEVICE void refuse(ErrorDetails details) {
    const TaskSlot& slot = memory_.slot({part_.task});
    details.code = ErrorCode::kInvalidArgs;
    details.task_id = slot.id.value;
    details.kernel = Kernels::name(part_.kernel);
    if (slot.submit_file < kSiteFilesMax)
      details.submit = {status_->site_files[slot.submit_file], slot.submit_line};
    latch_.latch(details);
  }

  using Core::dumper_;
  using Core::latch_;
  using Core::line_;
  using Core::memory_;
  using Core::part_;
  using Core::slip_;
  using Core::spans_;
  using Core::status_;
};

}  // namespace tidemark
