// SPDX-License-Identifier: Apache-2.0
// A core's side of the dump: the arguments of a task before its kernel and after it, gathered and
// measured in one pass, straight into the pages of the recorder. A task of many parts is captured
// once: the first part captures before any other runs, the last one to end captures what it wrote.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/record/frame_writer.h"
#include "tidemark/runtime/dump/dump_scratch.h"
#include "tidemark/runtime/dump/dump_source.h"
#include "tidemark/runtime/tensor/view_bounds.h"
#include "tidemark/runtime/units/unit_env.h"
#include "tidemark/runtime/units/unit_recorder.h"

namespace tidemark {

template <UnitEnv Env>
class TensorDumper {
 public:
  TM_DEVICE TensorDumper(const RuntimeMemory& memory, const RegionView* region, std::uint32_t core,
                         RecorderCosts* costs = nullptr)
      : memory_(memory),
        frames_(recorder_of<FrameWriter<Env>>(region, memory.config().lanes().dump(core), costs)),
        scratch_(memory),
        selection_(memory.config().dump),
        core_(static_cast<std::uint16_t>(core)) {}

  TM_DEVICE TM_INLINE bool enabled() const { return frames_.enabled(); }
  TM_DEVICE void close() { frames_.close(); }

  TM_DEVICE void before(TaskSlot& slot) {
    if (is_single(slot)) return capture(slot, DumpStage::kBeforeDispatch);
    std::uint32_t seen = kUntouched;
    // alone: it only decides who captures
    if (slot.dump_gate.replace_acq_rel(seen, kCapturing)) {
      capture(slot, DumpStage::kBeforeDispatch);
      slot.dump_gate.store_release(kCaptured);  // [inputs captured]
      return;
    }
    // pairs with [inputs captured] and [error latched]
    for (std::uint32_t round = 0; slot.dump_gate.load_acquire() != kCaptured &&
                                  memory_.control().error.load_acquire() == ErrorCode::kNone;
         ++round)
      Env::take_turn(round);
  }
  TM_DEVICE void after(TaskSlot& slot) {
    // [part ended]; pairs with [part ended]: the last one sees what all of them wrote
    if (is_single(slot) || slot.dump_left.subtract_acq_rel(1) == 1)
      capture(slot, DumpStage::kAfterCompletion);
  }

 private:
  static constexpr std::uint32_t kUntouched = 0, kCapturing = 1, kCaptured = 2;

  TM_DEVICE static bool is_single(const TaskSlot& slot) {
    return slot.block_count == 1 && slot.shape != TaskShape::kMix;
  }
  struct Arguments {
    const StoredTensor* tensors;
    std::uint32_t tensor_count;
    const StoredScalar* scalars;
    std::uint32_t scalar_count;
  };
  // A task whose counts or place nobody can have made has none.
  TM_DEVICE bool has_sane_arguments(const TaskSlot& slot) const {
    const std::uint64_t total = memory_.layout().total_bytes;
    return slot.tensor_count <= kTensorsMax && slot.scalar_count <= kScalarsMax &&
           slot.info_count <= kTensorsMax && slot.args_offset <= total - kTaskArgsBytesMax &&
           slot.info_offset <= total - kTaskArgsBytesMax;
  }
  TM_DEVICE bool is_readable(const StoredTensor& tensor) const {
    return lies_within(tensor.view, memory_.layout().total_bytes);
  }
  TM_DEVICE Arguments arguments_of(const TaskSlot& slot) const {
    if (slot.info_count > 0)
      return {memory_.template at<StoredTensor>(slot.info_offset), slot.info_count,
              memory_.scalars(slot), 0};
    return {memory_.tensors(slot), slot.tensor_count, memory_.scalars(slot), slot.scalar_count};
  }

  TM_DEVICE TM_NOINLINE void capture(TaskSlot& slot, DumpStage stage) {
    if (slot.raw_words != 0 && slot.info_count == 0) {
      if (stage == DumpStage::kBeforeDispatch && is_asked_for(slot))
        tell_skipped(slot, 0, SkipReason::kRawWords);
      return;
    }
    if (!has_sane_arguments(slot)) {
      if (stage == DumpStage::kBeforeDispatch) tell_skipped(slot, 0, SkipReason::kInvalidView);
      return;
    }
    const Arguments args = arguments_of(slot);
    const bool conditional = stage == DumpStage::kAfterCompletion && has_condition(slot);
    bool matched = false;
    const bool poisoned = conditional && reads_what_matches(slot, args);
    if (stage == DumpStage::kBeforeDispatch) keep_inouts(slot, args);
    for (std::uint32_t i = 0; i < args.tensor_count; ++i)
      if (belongs(args.tensors[i].access, stage) &&
          !(stage == DumpStage::kBeforeDispatch && is_kept(slot, args, i)))
        matched |= dump_tensor(slot, stage, args.tensors[i], i, {.poisoned = poisoned});
    if (stage == DumpStage::kAfterCompletion) dump_kept_inouts(slot, args, matched);
    // Where payload depends on what came out, inputs are looked at once that is known.
    if (conditional)
      for (std::uint32_t i = 0; i < args.tensor_count; ++i)
        if (is_input(args.tensors[i].access))
          dump_tensor(slot, DumpStage::kBeforeDispatch, args.tensors[i], i,
                      {.late = true, .forced = matched});
    if (stage != DumpStage::kBeforeDispatch) return;
    for (std::uint32_t i = 0; i < args.scalar_count; ++i)
      dump_scalar(slot, args.scalars[i], args.tensor_count + i);
  }

  // What a task is about to overwrite, where only its results can say whether that matters: copied
  // away before the kernel, and written after it. The time is in front of the copies.
  static constexpr std::uint64_t kNotKept = ~std::uint64_t{0};
  static constexpr std::uint64_t kKeptBegin = 64;

  TM_DEVICE bool waits_for_result(const TaskSlot& slot, const StoredTensor& tensor,
                                  std::uint32_t arg) const {
    if (tensor.access != Access::kInout || !is_readable(tensor)) return false;
    const DumpRule* rule = rule_for(slot, DumpStage::kBeforeDispatch, arg, tensor.access);
    return rule != nullptr && rule->when != DumpWhen::kAlways && wants_payload(slot, arg) &&
           wants_entry(slot, arg);
  }
  // Where in the scratch memory a copy is, or would be: the same before and after.
  TM_DEVICE std::uint64_t kept_at(const TaskSlot& slot, const Arguments& args,
                                  std::uint32_t wanted) const {
    std::uint64_t at = kKeptBegin;
    for (std::uint32_t i = 0; i <= wanted; ++i) {
      const StoredTensor& tensor = args.tensors[i];
      if (!waits_for_result(slot, tensor, i)) continue;
      const std::uint64_t bytes = tensor.view.element_count() * dtype_bytes(tensor.view.dtype);
      const bool fits = bytes <= scratch_.bytes() && at <= scratch_.bytes() - bytes;
      if (i == wanted) return fits ? at : kNotKept;
      if (fits) at += round_up(bytes, std::uint64_t{64});
    }
    return kNotKept;
  }
  TM_DEVICE bool is_kept(const TaskSlot& slot, const Arguments& args, std::uint32_t arg) const {
    return slot.dump_scratch != 0 && kept_at(slot, args, arg) != kNotKept;
  }
  TM_DEVICE TM_NOINLINE void keep_inouts(TaskSlot& slot, const Arguments& args) {
    if (scratch_.bytes() == 0) return;
    for (std::uint32_t i = 0; i < args.tensor_count; ++i) {
      const std::uint64_t at = kept_at(slot, args, i);
      if (at == kNotKept) continue;
      if (slot.dump_scratch == 0) slot.dump_scratch = scratch_.claim(core_);
      if (slot.dump_scratch == 0) return;
      unsigned char* piece = memory_.base() + scratch_.offset(slot.dump_scratch);
      const std::uint64_t now_ticks = Env::now_ticks();
      ::memcpy(piece, &now_ticks, sizeof(now_ticks));
      TensorGather gather(memory_.base(), args.tensors[i].view);
      const std::uint64_t bytes = gather.left_bytes();
      for (std::uint64_t done = 0; done < bytes;)
        done += gather.read(piece + at + done, bytes - done);
    }
  }
  TM_DEVICE TM_NOINLINE void dump_kept_inouts(TaskSlot& slot, const Arguments& args, bool matched) {
    if (slot.dump_scratch == 0) return;
    const std::uint64_t piece = scratch_.offset(slot.dump_scratch);
    for (std::uint32_t i = 0; i < args.tensor_count; ++i) {
      const std::uint64_t at = kept_at(slot, args, i);
      if (at != kNotKept)
        dump_tensor(slot, DumpStage::kBeforeDispatch, args.tensors[i], i,
                    {.forced = matched, .kept_piece = piece, .kept_at = piece + at});
    }
    scratch_.release(slot.dump_scratch);
    slot.dump_scratch = 0;
  }

  TM_DEVICE static bool is_input(Access access) {
    return access == Access::kInput || access == Access::kNoDep;
  }
  TM_DEVICE static bool belongs(Access access, DumpStage stage) {
    if (access == Access::kInout) return true;
    return is_input(access) == (stage == DumpStage::kBeforeDispatch);
  }

  // A NaN is kept where it is made, not wherever it is handed on.
  TM_DEVICE bool reads_what_matches(const TaskSlot& slot, const Arguments& args) const {
    for (std::uint32_t i = 0; i < args.tensor_count; ++i) {
      if (!is_input(args.tensors[i].access) || !is_readable(args.tensors[i])) continue;
      for (std::uint32_t r = 0; r < selection_.rule_count; ++r) {
        const DumpRule& rule = selection_.rules[r];
        if (rule.when != DumpWhen::kNan && rule.when != DumpWhen::kInf) continue;
        if (takes_kernel(rule, slot) && matches(rule, stats_of(args.tensors[i].view))) return true;
      }
    }
    return false;
  }
  TM_DEVICE DumpStats stats_of(const TensorView& view) const {
    DumpHeader header;
    header.dtype = view.dtype;
    header.flags = kDumpHasStats;
    return DumpSource(header, memory_.base(), &view).finish_stats();
  }

  // A task that is named without an iteration is meant in all of them.
  TM_DEVICE bool takes_task(const DumpRule& rule, TaskId id) const {
    const auto lies_in = [&](TaskId task) {
      return task.value >= rule.first_task && task.value <= rule.last_task;
    };
    return lies_in(id) || (memory_.config().repeats() && lies_in(id.without_lap()));
  }
  // The first rule that takes the argument; null where there are rules and none does.
  TM_DEVICE const DumpRule* rule_for(const TaskSlot& slot, DumpStage stage, std::uint32_t arg,
                                     Access access) const {
    for (std::uint32_t i = 0; i < selection_.rule_count; ++i) {
      const DumpRule& rule = selection_.rules[i];
      if (!takes_task(rule, slot.id)) continue;
      if ((rule.args >> arg & 1) == 0) continue;
      if ((rule.stages >> static_cast<std::uint32_t>(stage) & 1) == 0) continue;
      if ((rule.roles >> static_cast<std::uint32_t>(access) & 1) == 0 || !takes_kernel(rule, slot))
        continue;
      return &rule;
    }
    return nullptr;
  }
  TM_DEVICE static bool takes_kernel(const DumpRule& rule, const TaskSlot& slot) {
    if (rule.kernels == ~std::uint64_t{0}) return true;
    for (const std::uint16_t kernel : slot.kernels)
      if (kernel < kKernelNumbersMax && (rule.kernels >> kernel & 1) != 0) return true;
    return false;
  }
  // Whether anything of the task would be dumped, if its arguments were known.
  TM_DEVICE bool is_asked_for(const TaskSlot& slot) const {
    if (selection_.level == DumpLevel::kMarked && slot.dump_marks == 0) return false;
    for (std::uint32_t i = 0; i < selection_.rule_count; ++i) {
      const DumpRule& rule = selection_.rules[i];
      if (slot.id.value >= rule.first_task && slot.id.value <= rule.last_task &&
          takes_kernel(rule, slot))
        return true;
    }
    return selection_.rule_count == 0;
  }
  TM_DEVICE bool has_condition(const TaskSlot& slot) const {
    for (std::uint32_t i = 0; i < selection_.rule_count; ++i) {
      const DumpRule& rule = selection_.rules[i];
      if (rule.when != DumpWhen::kAlways && slot.id.value >= rule.first_task &&
          slot.id.value <= rule.last_task && takes_kernel(rule, slot))
        return true;
    }
    return false;
  }
  TM_DEVICE static bool is_marked(const TaskSlot& slot, std::uint32_t arg) {
    return (slot.dump_marks >> arg & 1) != 0;
  }
  TM_DEVICE bool wants_entry(const TaskSlot& slot, std::uint32_t arg) const {
    return selection_.level != DumpLevel::kMarked || is_marked(slot, arg);
  }
  TM_DEVICE bool wants_payload(const TaskSlot& slot, std::uint32_t arg) const {
    switch (selection_.level) {
      case DumpLevel::kFull:
        return true;
      case DumpLevel::kMarked:
      case DumpLevel::kMeta:
        return is_marked(slot, arg);
      default:
        return false;
    }
  }
  TM_DEVICE static bool matches(const DumpRule& rule, const DumpStats& stats) {
    switch (rule.when) {
      case DumpWhen::kAlways:
        return true;
      case DumpWhen::kNan:
        return stats.nan > 0;
      case DumpWhen::kInf:
        return stats.inf > 0;
      case DumpWhen::kAbsMaxAbove:
        return stats.max > rule.above || -stats.min > rule.above;
    }
    return false;
  }

  TM_DEVICE DumpHeader header_of(const TaskSlot& slot, DumpStage stage, std::uint32_t arg) const {
    DumpHeader header;
    header.core = core_;
    header.stage = stage;
    header.task_id = slot.id.value;
    header.time_ticks = Env::now_ticks();
    for (std::uint32_t i = 0; i < kKernelsMax; ++i) header.kernels[i] = slot.kernels[i];
    header.arg_index = static_cast<std::uint8_t>(arg);
    header.block_count = slot.block_count;
    return header;
  }

  struct Circumstances {
    bool late = false;                          // an input, captured after the kernel
    bool forced = false;                        // its task's outputs matched
    bool poisoned = false;                      // an input matched already
    std::uint64_t kept_piece = 0, kept_at = 0;  // a copy made before the kernel; 0: none
  };
  // True if the statistics matched a condition.
  TM_DEVICE TM_NOINLINE bool dump_tensor(const TaskSlot& slot, DumpStage stage,
                                         const StoredTensor& tensor, std::uint32_t arg,
                                         const Circumstances& when) {
    if (!wants_entry(slot, arg)) return false;
    const DumpRule* rule = rule_for(slot, stage, arg, tensor.access);
    if (rule == nullptr && selection_.rule_count > 0 && !when.forced) return false;
    const bool conditional = rule != nullptr && rule->when != DumpWhen::kAlways;
    // Pure inputs of a conditional rule wait until the outputs are known.
    if (conditional && !when.late && is_input(tensor.access)) return false;
    if (when.late && !conditional && !when.forced) return false;
    if (!is_readable(tensor)) {
      tell_skipped(slot, arg, SkipReason::kInvalidView);
      return false;
    }
    DumpHeader header = header_of(slot, stage, arg);
    TensorView view = tensor.view;
    describe_tensor(header, tensor);
    header.flags = kDumpHasStats;
    if (when.late) header.flags |= kDumpCapturedAfter;
    if (when.kept_at != 0) {
      view = TensorView::row_major(when.kept_at, view.dtype, view.shape);
      ::memcpy(&header.time_ticks, memory_.base() + when.kept_piece, sizeof(header.time_ticks));
    }
    bool matched = false;
    bool payload = wants_payload(slot, arg);
    if (conditional) {
      matched = !when.poisoned && !when.late && matches(*rule, stats_of(view));
      payload = payload && (matched || when.forced);
    }
    if (payload) {
      header.payload_bytes = header.logical_bytes;
      if (selection_.max_bytes > 0 && header.payload_bytes > selection_.max_bytes) {
        header.payload_bytes = selection_.max_bytes / 8 * 8;
        header.flags |= kDumpTruncated;
      }
    }
    DumpSource source(header, memory_.base(), &view);
    frames_.write_from(source, DumpSource::total_bytes(header));
    return matched;
  }

  TM_DEVICE TM_NOINLINE void dump_scalar(const TaskSlot& slot, const StoredScalar& scalar,
                                         std::uint32_t arg) {
    if (!wants_entry(slot, arg)) return;
    if (selection_.rule_count > 0 &&
        rule_for(slot, DumpStage::kBeforeDispatch, arg, Access::kInput) == nullptr)
      return;
    DumpHeader header = header_of(slot, DumpStage::kBeforeDispatch, arg);
    header.kind = DumpKind::kScalar;
    header.access = Access::kInput;
    header.dtype = scalar.dtype;
    header.scalar = scalar.value;
    DumpSource source(header, memory_.base(), nullptr);
    frames_.write_from(source, DumpSource::total_bytes(header));
  }

  TM_DEVICE TM_NOINLINE void tell_skipped(const TaskSlot& slot, std::uint32_t arg, SkipReason why) {
    DumpHeader header = header_of(slot, DumpStage::kBeforeDispatch, arg);
    header.skip_reason = why;
    header.kind = DumpKind::kSkipped;
    DumpSource source(header, memory_.base(), nullptr);
    frames_.write_from(source, DumpSource::total_bytes(header));
  }

  RuntimeMemory memory_;
  FrameWriter<Env> frames_;
  DumpScratch scratch_;
  DumpSelection selection_;
  std::uint16_t core_;
};

}  // namespace tidemark
