// SPDX-License-Identifier: Apache-2.0
// Which arguments of which tasks are dumped, and what of them: the level, the marks and the rules
// of a run.
#pragma once

#include <cstdint>

#include "tidemark/runtime/task_slot.h"
#include "tidemark/schema/dump_frame.h"
#include "tidemark/schema/runtime_config.h"

namespace tidemark {

class DumpChoice {
 public:
  TM_DEVICE explicit DumpChoice(const RuntimeConfig& config)
      : selection_(config.dump), repeats_(config.repeats()) {}

  TM_DEVICE bool has_rules() const { return selection_.rule_count > 0; }
  // Of a payload; 0: all of it.
  TM_DEVICE std::uint64_t max_bytes() const { return selection_.max_bytes; }

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
  // Whether anything of the task would be dumped, if its arguments were known.
  TM_DEVICE bool is_asked_for(const TaskSlot& slot) const {
    if (selection_.level == DumpLevel::kMarked && slot.dump_marks == 0) return false;
    for (std::uint32_t i = 0; i < selection_.rule_count; ++i) {
      const DumpRule& rule = selection_.rules[i];
      if (takes_task(rule, slot.id) && takes_kernel(rule, slot)) return true;
    }
    return selection_.rule_count == 0;
  }
  // Whether values of the task say what of it is kept.
  TM_DEVICE bool has_condition(const TaskSlot& slot) const {
    for (std::uint32_t i = 0; i < selection_.rule_count; ++i) {
      const DumpRule& rule = selection_.rules[i];
      if (rule.when != DumpWhen::kAlways && takes_task(rule, slot.id) && takes_kernel(rule, slot))
        return true;
    }
    return false;
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
  // A NaN is kept where it is made, not wherever it is handed on: whether the task's rules look for
  // any, and whether an input had one.
  TM_DEVICE bool looks_for_poison(const TaskSlot& slot) const {
    return finds_poison(slot, {.nan = 1, .inf = 1});
  }
  TM_DEVICE bool finds_poison(const TaskSlot& slot, const DumpStats& stats) const {
    for (std::uint32_t i = 0; i < selection_.rule_count; ++i) {
      const DumpRule& rule = selection_.rules[i];
      if (rule.when != DumpWhen::kNan && rule.when != DumpWhen::kInf) continue;
      if (takes_kernel(rule, slot) && matches(rule, stats)) return true;
    }
    return false;
  }

 private:
  // A task that is named without an iteration is meant in all of them.
  TM_DEVICE bool takes_task(const DumpRule& rule, TaskId id) const {
    const auto lies_in = [&](TaskId task) {
      return task.value >= rule.first_task && task.value <= rule.last_task;
    };
    return lies_in(id) || (repeats_ && lies_in(id.without_lap()));
  }
  TM_DEVICE static bool takes_kernel(const DumpRule& rule, const TaskSlot& slot) {
    if (rule.kernels == ~std::uint64_t{0}) return true;
    for (const std::uint16_t kernel : slot.kernels)
      if (kernel < kKernelNumbersMax && (rule.kernels >> kernel & 1) != 0) return true;
    return false;
  }
  TM_DEVICE static bool is_marked(const TaskSlot& slot, std::uint32_t arg) {
    return (slot.dump_marks >> arg & 1) != 0;
  }

  DumpSelection selection_;
  bool repeats_;
};

}  // namespace tidemark
