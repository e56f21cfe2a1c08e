// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/dump_options.h"

#include <cstdlib>

#include "tidemark/base/human_text.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/run/task_text.h"
#include "tidemark/schema/access.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark::cli {
namespace {

// One --dump-select: parts separated by commas, each of which narrows.
class SelectParser {
 public:
  SelectParser(const std::string& text, const std::vector<std::string>& kernels)
      : text_(text), kernels_(kernels) {}

  Expected<DumpRule> parse() {
    for (std::size_t at = 0; at <= text_.size();) {
      const std::size_t comma = std::min(text_.find(',', at), text_.size());
      const std::string part = text_.substr(at, comma - at);
      const auto equals = part.find('=');
      const std::string key = part.substr(0, equals);
      const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
      TM_TRY_DO(take(key, value, part));
      at = comma + 1;
    }
    return rule_;
  }

 private:
  Expected<void> take(const std::string& key, const std::string& value, const std::string& part) {
    if (key == "kernel") return take_kernel(value);
    if (key == "task") return take_tasks(value);
    if (key == "stage") return take_stage(value);
    if (key == "role") return take_role(value);
    if (key == "arg") return take_arg(value);
    if (key == "when") return take_when(value);
    return failure(
        ErrorKind::kUsage,
        "--dump-select {}: '{}' is not kernel=, task=, stage=, role=, arg= or when=", text_, part);
  }
  Expected<void> take_kernel(const std::string& name) {
    for (std::size_t i = 0; i < kernels_.size() && i < kKernelNumbersMax; ++i) {
      if (kernels_[i] != name) continue;
      rule_.kernels = (has_kernel_ ? rule_.kernels : 0) | std::uint64_t{1} << i;
      has_kernel_ = true;
    }
    if (has_kernel_) return {};
    return failure(ErrorKind::kUsage, "--dump-select {}: no kernel {}; there are {}{}", text_, name,
                   joined(kernels_, ", "), did_you_mean(name, kernels_));
  }
  Expected<void> take_tasks(const std::string& value) {
    const auto dots = value.find("..");
    const auto first = parse_task(value.substr(0, dots));
    const auto last = dots == std::string::npos ? first : parse_task(value.substr(dots + 2));
    if (!first || !last || *last < *first)
      return failure(ErrorKind::kUsage,
                     "--dump-select {}: '{}' is not a task (r1t42) or a range (r1t100..r1t200)",
                     text_, value);
    rule_.first_task = *first;
    rule_.last_task = *last;
    return {};
  }
  Expected<void> take_stage(const std::string& value) {
    if (value != "before" && value != "after")
      return failure(ErrorKind::kUsage, "--dump-select {}: a stage is before or after", text_);
    rule_.stages = value == "before" ? 1u : 2u;
    return {};
  }
  Expected<void> take_role(const std::string& value) {
    const auto bit = [](Access access) { return 1u << static_cast<std::uint32_t>(access); };
    if (value == "input")
      rule_.roles = bit(Access::kInput) | bit(Access::kNoDep);
    else if (value == "output")
      rule_.roles = bit(Access::kOutput) | bit(Access::kOutputExisting);
    else if (value == "inout")
      rule_.roles = bit(Access::kInout);
    else
      return failure(ErrorKind::kUsage, "--dump-select {}: a role is input, output or inout",
                     text_);
    return {};
  }
  Expected<void> take_arg(const std::string& value) {
    char* end = nullptr;
    const unsigned long arg = std::strtoul(value.c_str(), &end, 10);
    if (value.empty() || *end != 0 || arg >= kTensorsMax + kScalarsMax)
      return failure(ErrorKind::kUsage, "--dump-select {}: arg={} is not from 0 to {}", text_,
                     value, kTensorsMax + kScalarsMax - 1);
    rule_.args = (has_arg_ ? rule_.args : 0) | std::uint64_t{1} << arg;
    has_arg_ = true;
    return {};
  }
  Expected<void> take_when(const std::string& value) {
    constexpr std::string_view kAbsMax = "absmax>";
    char* end = nullptr;
    if (value.starts_with(kAbsMax) && value.size() > kAbsMax.size())
      rule_.above = std::strtod(value.c_str() + kAbsMax.size(), &end);
    const bool above = end != nullptr && *end == 0;
    if (!above && value != "nan" && value != "inf")
      return failure(ErrorKind::kUsage, "--dump-select {}: when is nan, inf or absmax>NUMBER",
                     text_);
    rule_.when = above ? DumpWhen::kAbsMaxAbove : value == "nan" ? DumpWhen::kNan : DumpWhen::kInf;
    return {};
  }

  const std::string& text_;
  const std::vector<std::string>& kernels_;
  DumpRule rule_;
  bool has_kernel_ = false, has_arg_ = false;
};

}  // namespace

void bind_dump_options(Command& command, DumpOptions& options) {
  command.group = "Tensor dump";
  command.flag("--dump-tensor{full}", &options.level,
               "Arguments of every task, before and after: =full (bare) everything, =marked what "
               "the orchestration marks with dump(), =meta payload of marked only, =stats "
               "statistics and hashes, no payload");
  command.option("--dump-select", &options.selects,
                 "Narrow it: kernel=K,task=r1t1..r1t9,stage=before|after,role=R,arg=N,"
                 "when=nan|inf|absmax>X; several allowed");
  command.option("--dump-max-bytes", &options.max_bytes,
                 "Cut the payload of one tensor; 0: never (default)");
  command.option("--dump-scratch-bytes", &options.scratch_bytes,
                 "With when=: memory per core in which an inout is kept before its kernel, until "
                 "the result says whether its payload is wanted; beyond it only statistics are",
                 kShowsDefault);
}

Expected<DumpSelection> plan_dump(const DumpOptions& options,
                                  const std::vector<std::string>& kernels) {
  DumpSelection selection;
  if (options.level.empty()) {
    if (!options.selects.empty() || options.max_bytes > 0)
      return failure(ErrorKind::kUsage, "{}: works with --dump-tensor",
                     options.selects.empty() ? "--dump-max-bytes" : "--dump-select");
    return selection;
  }
  for (const auto level :
       {DumpLevel::kFull, DumpLevel::kMarked, DumpLevel::kMeta, DumpLevel::kStats})
    if (options.level == to_text(level)) selection.level = level;
  if (!selection.on())
    return failure(ErrorKind::kUsage, "--dump-tensor={}: a level is full, marked, meta or stats",
                   options.level);
  if (options.selects.size() > kDumpRulesMax)
    return failure(ErrorKind::kUsage, "--dump-select: at most {} of them", kDumpRulesMax);
  for (const auto& text : options.selects) {
    TM_TRY(const auto rule, SelectParser(text, kernels).parse());
    selection.rules[selection.rule_count++] = rule;
  }
  selection.max_bytes = options.max_bytes;
  selection.scratch_bytes = options.scratch_bytes;
  return selection;
}

}  // namespace tidemark::cli
