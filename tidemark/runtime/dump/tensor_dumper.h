// SPDX-License-Identifier: Apache-2.0
// A core's side of the dump: the arguments of a task before its kernel and after it, gathered and
// measured in one pass, straight into the pages of the recorder. A task of many parts is captured
// once: the first part captures before any other runs, the last one to end captures what it wrote.
//
// All threads of the core's block do it together, on the one dumper of thread 0: they come to the
// same decisions, and thread 0 alone touches the recorder, the slot's words and the scratch pieces.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/record/frame_writer.h"
#include "tidemark/runtime/dump/block_dump_source.h"
#include "tidemark/runtime/dump/dump_choice.h"
#include "tidemark/runtime/dump/dump_scratch.h"
#include "tidemark/runtime/dump/dump_source.h"
#include "tidemark/runtime/kernel_block.h"
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
        choice_(memory.config()),
        core_(static_cast<std::uint16_t>(core)) {}

  TM_DEVICE TM_INLINE bool enabled() const { return frames_.enabled(); }
  TM_DEVICE void close() { frames_.close(); }

  template <KernelBlock B>
  TM_DEVICE void before(B& block, TaskSlot& slot) {
    if (is_single(slot)) return capture(block, slot, DumpStage::kBeforeDispatch);
    if (!block.broadcast(block.thread() == 0 && comes_first(slot))) return;
    capture(block, slot, DumpStage::kBeforeDispatch);
    block.sync();
    if (block.thread() == 0) slot.dump_gate.store_release(kCaptured);  // [inputs captured]
  }
  template <KernelBlock B>
  TM_DEVICE void after(B& block, TaskSlot& slot) {
    // [part ended]; pairs with [part ended]: the last one sees what all of them wrote
    if (is_single(slot) ||
        block.broadcast(block.thread() == 0 && slot.dump_left.subtract_acq_rel(1) == 1))
      capture(block, slot, DumpStage::kAfterCompletion);
  }

 private:
  static constexpr std::uint32_t kUntouched = 0, kCapturing = 1, kCaptured = 2;

  // Of a task of many parts: the first one captures, the others wait until it has.
  TM_DEVICE bool comes_first(TaskSlot& slot) const {
    std::uint32_t seen = kUntouched;
    // alone: it only decides who captures
    if (slot.dump_gate.replace_acq_rel(seen, kCapturing)) return true;
    // pairs with [inputs captured] and [error latched]
    for (std::uint32_t round = 0; slot.dump_gate.load_acquire() != kCaptured &&
                                  memory_.control().error.load_acquire() == ErrorCode::kNone;
         ++round)
      Env::take_turn(round);
    return false;
  }
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

  template <KernelBlock B>
  TM_DEVICE TM_NOINLINE void capture(B& block, TaskSlot& slot, DumpStage stage) {
    if (slot.raw_words != 0 && slot.info_count == 0) {
      if (stage == DumpStage::kBeforeDispatch && choice_.is_asked_for(slot))
        tell_skipped(block, slot, 0, SkipReason::kRawWords);
      return;
    }
    if (!has_sane_arguments(slot)) {
      if (stage == DumpStage::kBeforeDispatch)
        tell_skipped(block, slot, 0, SkipReason::kInvalidView);
      return;
    }
    const Arguments args = arguments_of(slot);
    const bool conditional = stage == DumpStage::kAfterCompletion && choice_.has_condition(slot);
    bool matched = false;
    const bool poisoned = conditional && reads_what_matches(block, slot, args);
    if (stage == DumpStage::kBeforeDispatch) keep_inouts(block, slot, args);
    for (std::uint32_t i = 0; i < args.tensor_count; ++i)
      if (belongs(args.tensors[i].access, stage) &&
          !(stage == DumpStage::kBeforeDispatch && is_kept(slot, args, i)))
        matched |= dump_tensor(block, slot, stage, args.tensors[i], i, {.poisoned = poisoned});
    if (stage == DumpStage::kAfterCompletion) dump_kept_inouts(block, slot, args, matched);
    // Where payload depends on what came out, inputs are looked at once that is known.
    if (conditional)
      for (std::uint32_t i = 0; i < args.tensor_count; ++i)
        if (is_input(args.tensors[i].access))
          dump_tensor(block, slot, DumpStage::kBeforeDispatch, args.tensors[i], i,
                      {.late = true, .forced = matched});
    if (stage != DumpStage::kBeforeDispatch) return;
    for (std::uint32_t i = 0; i < args.scalar_count; ++i)
      dump_scalar(block, slot, args.scalars[i], args.tensor_count + i);
  }

  // What a task is about to overwrite, where only its results can say whether that matters: copied
  // away before the kernel, and written after it. The time is in front of the copies.
  static constexpr std::uint64_t kNotKept = ~std::uint64_t{0};
  static constexpr std::uint64_t kKeptBegin = 64;

  TM_DEVICE bool waits_for_result(const TaskSlot& slot, const StoredTensor& tensor,
                                  std::uint32_t arg) const {
    if (tensor.access != Access::kInout || !is_readable(tensor)) return false;
    const DumpRule* rule = choice_.rule_for(slot, DumpStage::kBeforeDispatch, arg, tensor.access);
    return rule != nullptr && rule->when != DumpWhen::kAlways && choice_.wants_payload(slot, arg) &&
           choice_.wants_entry(slot, arg);
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
  template <KernelBlock B>
  TM_DEVICE TM_NOINLINE void keep_inouts(B& block, TaskSlot& slot, const Arguments& args) {
    if (scratch_.bytes() == 0) return;
    std::uint32_t claimed = 0;
    for (std::uint32_t i = 0; i < args.tensor_count; ++i) {
      const std::uint64_t at = kept_at(slot, args, i);
      if (at == kNotKept) continue;
      if (claimed == 0) claimed = block.broadcast(block.thread() == 0 ? claim_piece(slot) : 0);
      if (claimed == 0) return;
      copy_together(block, memory_.base() + scratch_.offset(claimed) + at, args.tensors[i].view);
    }
  }
  TM_DEVICE std::uint32_t claim_piece(TaskSlot& slot) const {
    slot.dump_scratch = scratch_.claim(core_);
    const std::uint64_t now_ticks = Env::now_ticks();
    if (slot.dump_scratch != 0)
      ::memcpy(memory_.base() + scratch_.offset(slot.dump_scratch), &now_ticks, sizeof(now_ticks));
    return slot.dump_scratch;
  }
  template <KernelBlock B>
  TM_DEVICE void copy_together(B& block, unsigned char* to, const TensorView& view) const {
    TensorGather gather(memory_.base(), view);
    const std::uint64_t bytes = gather.left_bytes();
    if constexpr (B::kThreads == 1) {
      for (std::uint64_t done = 0; done < bytes;) done += gather.read(to + done, bytes - done);
    } else {
      for (std::uint64_t at = block.thread() * 8; at < bytes; at += block.threads() * 8) {
        gather.seek(at);
        gather.read(to + at, 8);
      }
    }
  }
  template <KernelBlock B>
  TM_DEVICE TM_NOINLINE void dump_kept_inouts(B& block, TaskSlot& slot, const Arguments& args,
                                              bool matched) {
    const std::uint32_t claimed = slot.dump_scratch;
    if (claimed == 0) return;
    const std::uint64_t piece = scratch_.offset(claimed);
    for (std::uint32_t i = 0; i < args.tensor_count; ++i) {
      const std::uint64_t at = kept_at(slot, args, i);
      if (at != kNotKept)
        dump_tensor(block, slot, DumpStage::kBeforeDispatch, args.tensors[i], i,
                    {.forced = matched, .kept_piece = piece, .kept_at = piece + at});
    }
    block.sync();  // everybody has read it
    if (block.thread() != 0) return;
    scratch_.release(claimed);
    slot.dump_scratch = 0;
  }

  TM_DEVICE static bool is_input(Access access) {
    return access == Access::kInput || access == Access::kNoDep;
  }
  TM_DEVICE static bool belongs(Access access, DumpStage stage) {
    if (access == Access::kInout) return true;
    return is_input(access) == (stage == DumpStage::kBeforeDispatch);
  }

  template <KernelBlock B>
  TM_DEVICE bool reads_what_matches(B& block, const TaskSlot& slot, const Arguments& args) const {
    if (!choice_.looks_for_poison(slot)) return false;
    for (std::uint32_t i = 0; i < args.tensor_count; ++i)
      if (is_input(args.tensors[i].access) && is_readable(args.tensors[i]) &&
          choice_.finds_poison(slot, stats_of(block, args.tensors[i].view)))
        return true;
    return false;
  }
  template <KernelBlock B>
  TM_DEVICE DumpStats stats_of(B& block, const TensorView& view) const {
    DumpHeader header;
    header.dtype = view.dtype;
    header.flags = kDumpHasStats;
    if constexpr (B::kThreads == 1)
      return DumpSource(header, memory_.base(), &view).finish_stats();
    else
      return BlockDumpSource<B>(block, header, memory_.base(), &view).finish_stats();
  }
  template <KernelBlock B>
  TM_DEVICE TM_NOINLINE void write(B& block, const DumpHeader& header, const TensorView* view) {
    const std::uint64_t bytes = DumpSource::total_bytes(header);
    if constexpr (B::kThreads == 1) {
      DumpSource source(header, memory_.base(), view);
      frames_.write_from(source, bytes);
    } else {
      BlockDumpSource<B> source(block, header, memory_.base(), view);
      frames_.write_together(block, source, bytes);
    }
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
  template <KernelBlock B>
  TM_DEVICE TM_NOINLINE bool dump_tensor(B& block, const TaskSlot& slot, DumpStage stage,
                                         const StoredTensor& tensor, std::uint32_t arg,
                                         const Circumstances& when) {
    if (!choice_.wants_entry(slot, arg)) return false;
    const DumpRule* rule = choice_.rule_for(slot, stage, arg, tensor.access);
    if (rule == nullptr && choice_.has_rules() && !when.forced) return false;
    const bool conditional = rule != nullptr && rule->when != DumpWhen::kAlways;
    // Pure inputs of a conditional rule wait until the outputs are known.
    if (conditional && !when.late && is_input(tensor.access)) return false;
    if (when.late && !conditional && !when.forced) return false;
    if (!is_readable(tensor)) {
      tell_skipped(block, slot, arg, SkipReason::kInvalidView);
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
    bool payload = choice_.wants_payload(slot, arg);
    if (conditional) {
      matched = !when.poisoned && !when.late && DumpChoice::matches(*rule, stats_of(block, view));
      payload = payload && (matched || when.forced);
    }
    if (payload) {
      header.payload_bytes = header.logical_bytes;
      if (choice_.max_bytes() > 0 && header.payload_bytes > choice_.max_bytes()) {
        header.payload_bytes = choice_.max_bytes() / 8 * 8;
        header.flags |= kDumpTruncated;
      }
    }
    write(block, header, &view);
    return matched;
  }

  template <KernelBlock B>
  TM_DEVICE TM_NOINLINE void dump_scalar(B& block, const TaskSlot& slot, const StoredScalar& scalar,
                                         std::uint32_t arg) {
    if (!choice_.wants_entry(slot, arg)) return;
    if (choice_.has_rules() &&
        choice_.rule_for(slot, DumpStage::kBeforeDispatch, arg, Access::kInput) == nullptr)
      return;
    DumpHeader header = header_of(slot, DumpStage::kBeforeDispatch, arg);
    header.kind = DumpKind::kScalar;
    header.access = Access::kInput;
    header.dtype = scalar.dtype;
    header.scalar = scalar.value;
    write(block, header, nullptr);
  }

  template <KernelBlock B>
  TM_DEVICE TM_NOINLINE void tell_skipped(B& block, const TaskSlot& slot, std::uint32_t arg,
                                          SkipReason why) {
    DumpHeader header = header_of(slot, DumpStage::kBeforeDispatch, arg);
    header.skip_reason = why;
    header.kind = DumpKind::kSkipped;
    write(block, header, nullptr);
  }

  RuntimeMemory memory_;
  FrameWriter<Env> frames_;
  DumpScratch scratch_;
  DumpChoice choice_;
  std::uint16_t core_;
};

}  // namespace tidemark
