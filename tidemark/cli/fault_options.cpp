// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/fault_options.h"

#include <charconv>

#include "tidemark/base/fault_plan.h"
#include "tidemark/base/human_text.h"
#include "tidemark/base/nearest_name.h"

namespace tidemark::cli {

Expected<void> arm_fault(const std::string& text) {
  const auto at = text.find('@');
  const auto colon = text.find(':', at == std::string::npos ? 0 : at);
  const std::string action = text.substr(0, at);
  const std::string point =
      at == std::string::npos
          ? ""
          : text.substr(at + 1, colon == std::string::npos ? colon : colon - at - 1);
  FaultAction what = FaultAction::kNone;
  if (action == "crash") what = FaultAction::kCrash;
  if (action == "kill") what = FaultAction::kKill;
  if (action == "hang") what = FaultAction::kHang;
  if (action == "stop") what = FaultAction::kStop;
  std::uint64_t count = 1;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data() + colon + 1, end, count);
    if (code != std::errc() || rest != end || count == 0) what = FaultAction::kNone;
  }
  for (std::uint32_t i = 0; i < kFaultPointCount; ++i) {
    if (point != kFaultPointNames[i] || what == FaultAction::kNone) continue;
    fault_plan.arm(static_cast<FaultPoint>(i), what, count);
    return {};
  }
  return failure(ErrorKind::kUsage,
                 "--inject {}: it is crash|kill|hang|stop@POINT:N, and the points are {}{}", text,
                 joined(kFaultPointNames, ", "), did_you_mean(point, kFaultPointNames));
}

}  // namespace tidemark::cli
