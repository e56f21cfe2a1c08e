// SPDX-License-Identifier: Apache-2.0
// What a person should know of a run first, in sentences with a number, each with a link to its
// place on the page. A pure function of analysed facts: it reads no capture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/analyze/critical_path.h"
#include "tidemark/analyze/scope_report.h"
#include "tidemark/run/run_report.h"
#include "tidemark/schema/enum_text.h"

namespace tidemark {

enum class Severity : std::uint8_t { kBad, kWarn, kNote };

constexpr std::string_view to_text(Severity severity) {
  return enum_text(severity, Severity::kBad, {"bad", "warn", "note"});
}

// A place on the page; what is not set is not known.
struct FindingLink {
  std::string_view panel = "timeline";
  std::optional<std::uint64_t> task = {};
  std::optional<std::uint32_t> track = {};
  std::optional<std::uint64_t> time = {};  // ticks since the epoch
  std::string site = {};
  std::optional<std::uint64_t> row = {};  // of the dumped arguments
};

struct Finding {
  Severity severity = Severity::kNote;
  std::string text;
  FindingLink link;
};

// What one stream lost for one reason.
struct StreamLoss {
  std::string stream;
  std::string reason;  // as in LaneLosses
  std::uint64_t lost = 0;
  std::uint64_t places = 0;   // ranges of time
  std::string producer = {};  // that lost the most
  bool expected = false;      // the stream's policy allows it
  FindingLink link = {};      // to the largest range
};

// A NaN or an infinity: where it was made, or where it was seen first if nobody made it.
struct NanFact {
  bool is_nan = true;  // false: infinities alone
  bool made = true;    // by a task whose inputs had none
  std::uint64_t task_id = 0;
  std::string kernel;
  std::uint32_t arg = 0;
  std::string role;       // input, output or inout
  bool before = false;    // it ran: then it was read, not written
  std::string site = {};  // of its submit; empty: not recorded
  std::uint64_t count = 0;
  std::uint64_t elements = 0;
  std::vector<std::uint32_t> clean_inputs = {};  // arguments
  std::uint64_t tasks_wrote = 0;
  FindingLink link = {};
};

struct PathFact {
  CriticalPath path;  // its steps are not looked at
  std::uint64_t step_count = 0;
  std::string kernel = {};  // that takes most of its execution
  double kernel_share = 0;  // of its execution
  bool complete = true;     // false: tasks or edges of the graph are missing
  FindingLink link = {};    // to the step that took longest
};

struct KernelFact {
  std::string name;
  double share = 0;  // of the time in kernels
  std::uint64_t blocks = 0;
  double mean_ns = 0;
  double most_ns = 0;
  FindingLink link = {};  // to its slowest block
};

struct HangFact {
  std::string hang_class;
  std::string sentence;
  FindingLink link = {.panel = "hang"};
};

struct RunFacts {
  RunStatus status = RunStatus::kMissing;
  std::optional<RunError> error = {};
  std::vector<RunError> warnings = {};
  std::string result = {};  // of a mismatch: what differs
  TaskCounts tasks = {};
  std::uint64_t device_ns = 0;
  bool has_dump = false;
  std::optional<HangFact> hang = {};
  std::vector<StreamLoss> losses = {};
  bool loss_known = true;  // false: what came after the capture is unknown
  std::uint64_t produced = 0;
  double stall_share = 0;  // of the producers' time
  FindingLink stall_link = {};
  std::optional<NanFact> nan = {};
  std::optional<PathFact> path = {};
  std::vector<Starvation> starvation = {};
  std::optional<ResourceUse> limit = {};  // closest to its limit
  std::optional<KernelFact> kernel = {};  // with the most time
};

inline constexpr std::size_t kFindingsMax = 7;

// Most important first.
std::vector<Finding> find_findings(const RunFacts& facts);

}  // namespace tidemark
