// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/findings.h"

#include <algorithm>
#include <cmath>

#include "tidemark/base/human_text.h"
#include "tidemark/run/lane_losses.h"
#include "tidemark/run/task_text.h"
#include "tidemark/schema/error_code.h"

namespace tidemark {
namespace {

constexpr double kDominates = 0.5;  // of the critical path
constexpr double kStarvationNews = 0.05;
constexpr double kStarvationBad = 0.25;
constexpr double kStallNews = 0.01;
constexpr double kStallBad = 0.1;
constexpr std::size_t kLossSentences = 3;

std::string percent(double share) {
  const double value = share * 100;
  if (value > 0 && value < 0.05) return "< 0.1 %";
  return value > 0 && value < 1 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

// Three digits, as the page writes times.
std::string duration(double ns) {
  if (!(ns > 0) || !std::isfinite(ns)) return "0 ns";
  constexpr std::pair<double, std::string_view> kUnits[] = {
      {1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  const auto unit = std::ranges::find_if(kUnits, [&](const auto& one) { return ns >= one.first; });
  const auto& [scale, name] = unit == std::end(kUnits) ? kUnits[3] : *unit;
  const double value = ns / scale;
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, name);
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", with_commas(count), count == 1 ? one : many);
}

std::string without_end(std::string text) {
  while (!text.empty() && (text.back() == '.' || text.back() == ' ' || text.back() == '\n'))
    text.pop_back();
  return text;
}

// Begins and ends a sentence; it may have ended already.
std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return without_end(std::move(text)) + ".";
}

// What happened, what to do, and last the code to search for.
std::string error_text(const RunError& error) {
  std::string text = without_end(error.message);
  if (!error.hint.empty())
    text += fmt::format("{}{}", text.empty() ? "" : "; ", without_end(error.hint));
  if (text.empty() || error.name.empty()) return text + error.name;
  return error.code == 0 ? fmt::format("{} ({})", text, error.name)
                         : fmt::format("{} ({} {})", text, error.code, error.name);
}

std::string reason_text(std::string_view reason) {
  if (reason == to_text(DropReason::kNoPage)) return "no page was free";
  if (reason == to_text(DropReason::kHostGone)) return "the host was gone";
  if (reason == to_text(DropReason::kFileError)) return "the file could not be written";
  if (reason == to_text(DropReason::kDeviceLost)) return "the device was lost";
  return std::string(reason);
}

class FindingList {
 public:
  explicit FindingList(const RunFacts& facts) : facts_(facts) {}

  // Within a severity in the order in which they are added.
  std::vector<Finding> make() {
    add_ending();
    add_losses();
    add_nan();
    for (const RunError& warning : facts_.warnings) add_warning(warning);
    add_path();
    add_limit();
    add_starvation();
    add_stalls();
    add_kernel();
    add_nothing_lost();
    std::ranges::stable_sort(found_, {}, &Finding::severity);
    if (found_.size() > kFindingsMax) found_.resize(kFindingsMax);
    return std::move(found_);
  }

 private:
  void add(Severity severity, const std::string& text, FindingLink link) {
    found_.push_back({severity, sentence(text), std::move(link)});
  }

  void add_ending() {
    const std::string tasks =
        fmt::format("{} of {} tasks are complete", with_commas(facts_.tasks.completed),
                    with_commas(facts_.tasks.submitted));
    switch (facts_.status) {
      case RunStatus::kOk:
        return;
      case RunStatus::kMismatch:
        return add(Severity::kBad,
                   "The results differ" + (facts_.result.empty() ? "" : ": " + facts_.result),
                   {.panel = facts_.has_dump ? "tensors" : "graph"});
      case RunStatus::kRunning:
        return add(Severity::kNote,
                   "The run is still going on, or its host was killed: this is what was written "
                   "so far",
                   {});
      case RunStatus::kRecovered:
        return add(Severity::kWarn,
                   "The host was killed; `tidemark recover` finished the run from what was left",
                   {});
      case RunStatus::kInterrupted:
        return add(Severity::kWarn, "The run was interrupted by a signal; " + tasks, {});
      case RunStatus::kHang:
      case RunStatus::kFatal:
      case RunStatus::kDeviceFault:
        return add_failure(tasks);
      case RunStatus::kMissing:
      case RunStatus::kUnknown:
        break;
    }
    add(Severity::kWarn, "How the run ended is not known: its host never wrote it down", {});
  }

  void add_failure(const std::string& tasks) {
    const bool hangs = facts_.status == RunStatus::kHang;
    std::string text = hangs                                ? "The run hung"
                       : facts_.status == RunStatus::kFatal ? "The program could not go on"
                                                            : "The device crashed";
    if (hangs && facts_.hang && !facts_.hang->sentence.empty())
      text += ": " + facts_.hang->sentence;
    else if (facts_.error)
      text += ": " + error_text(*facts_.error);
    else
      text += "; " + tasks;
    FindingLink link = facts_.hang ? facts_.hang->link : FindingLink{};
    if (facts_.error && facts_.error->culprit)
      link = {.panel = "scopes", .site = facts_.error->culprit->scope};
    add(Severity::kBad, text, std::move(link));
  }

  void add_warning(const RunError& warning) {
    FindingLink link;
    if (warning.code == static_cast<std::uint32_t>(ErrorCode::kRingBufferBackpressure))
      link = {.panel = "scopes", .site = facts_.limit ? facts_.limit->site : ""};
    add(Severity::kWarn, error_text(warning), std::move(link));
  }

  void add_losses() {
    auto losses = facts_.losses;
    std::ranges::stable_sort(losses, [](const StreamLoss& a, const StreamLoss& b) {
      return a.expected != b.expected ? b.expected : a.lost > b.lost;
    });
    if (!facts_.loss_known)
      add(Severity::kBad,
          "What was lost is not known: the shared memory was gone before it could be read", {});
    const std::size_t shown = losses.size() <= kLossSentences ? losses.size() : kLossSentences - 1;
    for (std::size_t i = 0; i < shown; ++i) add_loss(losses[i]);
    if (shown == losses.size()) return;
    std::uint64_t rest = 0;
    bool expected = true;
    for (std::size_t i = shown; i < losses.size(); ++i) {
      rest += losses[i].lost;
      expected = expected && losses[i].expected;
    }
    add(expected ? Severity::kWarn : Severity::kBad,
        fmt::format("{} of other streams or for other reasons were lost, too",
                    plural(rest, "record", "records")),
        losses[shown].link);
  }

  void add_loss(const StreamLoss& loss) {
    std::string text =
        plural(loss.lost, "record", "records") + " of the " + loss.stream + " stream";
    if (loss.reason == kLossOverwritten)
      text += fmt::format(" {} overwritten by newer ones", loss.lost == 1 ? "was" : "were");
    else if (loss.reason == kLossMissing)
      text += fmt::format(" {} missing and nothing says why", loss.lost == 1 ? "is" : "are");
    else
      text += fmt::format(" {} dropped ({})", loss.lost == 1 ? "was" : "were",
                          reason_text(loss.reason));
    if (loss.places > 0) text += " in " + plural(loss.places, "place", "places");
    if (!loss.producer.empty()) text += fmt::format(", most by {}", loss.producer);
    // Of a killed run the kill is the news.
    const bool by_kill =
        facts_.status == RunStatus::kRecovered && loss.reason == to_text(DropReason::kHostGone);
    add(loss.expected || by_kill ? Severity::kWarn : Severity::kBad, text, loss.link);
  }

  void add_nan() {
    if (!facts_.nan) return;
    const NanFact& nan = *facts_.nan;
    const std::string_view what = nan.is_nan ? "NaN" : "infinity";
    const std::string elements =
        fmt::format("{} of {} in argument {} ({})", with_commas(nan.count),
                    plural(nan.elements, "element", "elements"), nan.arg, nan.role);
    std::string task = fmt::format("`{}` of task {}", nan.kernel, task_text(nan.task_id));
    if (!nan.site.empty()) task += fmt::format(" ({})", nan.site);
    if (nan.made) {
      std::string text = fmt::format("The first {} was made by {}: {}{}", what, task, elements,
                                     clean_text(nan.clean_inputs));
      if (nan.tasks_wrote > 1)
        text += fmt::format("; {} tasks wrote one in all", with_commas(nan.tasks_wrote));
      return add(severity_of(nan), text, nan.link);
    }
    const std::string_view nobody = nan.is_nan ? "No task made a NaN" : "No task made an infinity";
    std::string text =
        nan.before
            ? fmt::format("{}; the first was there before {} ran: {}", nobody, task, elements)
            : fmt::format("{} of clean inputs; the first is in what {} wrote: {}", nobody, task,
                          elements);
    text += nan.tasks_wrote == 0
                ? "; no task wrote one"
                : fmt::format("; {} had one in what they wrote, and in what they read",
                              plural(nan.tasks_wrote, "task", "tasks"));
    add(severity_of(nan), text, nan.link);
  }
  // What was there before anybody wrote, or was only handed on, may be as the program wants it.
  [[nodiscard]] Severity severity_of(const NanFact& nan) const {
    if (nan.made) return nan.is_nan ? Severity::kBad : Severity::kWarn;
    const bool harms = nan.is_nan && nan.tasks_wrote > 0 && facts_.status != RunStatus::kOk;
    return harms ? Severity::kWarn : Severity::kNote;
  }
  static std::string clean_text(const std::vector<std::uint32_t>& inputs) {
    if (inputs.empty()) return "; it read no tensor, or none was dumped";
    std::vector<std::string> numbers;
    for (const std::uint32_t arg : inputs) numbers.push_back(std::to_string(arg));
    return fmt::format("; what it read (argument{} {}) was clean", inputs.size() == 1 ? "" : "s",
                       joined(numbers, ", ", " and "));
  }

  // The parts of the path, largest first, and what to change about the largest.
  void add_path() {
    if (!facts_.path) return;
    const CriticalPath& path = facts_.path->path;
    const double sum =
        path.execution_ns + path.core_wait_ns + path.scheduler_ns + path.orchestrator_ns;
    if (!(path.length_ns > 0) || !std::isfinite(sum)) return;  // a damaged clock says anything
    struct Part {
      double ns;
      const char* name;
      std::string advice;
    };
    Part parts[] = {{path.orchestrator_ns, "orchestrator", orchestrator_advice()},
                    {path.core_wait_ns, "waiting for a core",
                     "every core that could have run it was busy: more cores or shorter kernels "
                     "help"},
                    {path.scheduler_ns, "scheduler",
                     "tasks are short for what a dispatch costs: give each more work"},
                    {path.execution_ns, "execution", execution_advice()}};
    std::ranges::stable_sort(parts, std::ranges::greater{}, &Part::ns);
    const bool complete = facts_.path->complete;
    std::string text = fmt::format("Critical path of {}{}: ", duration(path.length_ns),
                                   complete ? "" : ", in a graph that was not recorded whole");
    for (const Part& part : parts)
      text += fmt::format("{}{} {}", &part == parts ? "" : ", ", percent(part.ns / path.length_ns),
                          part.name);
    text += "; " + parts[0].advice;
    const bool bad = parts[0].ns != path.execution_ns && parts[0].ns > path.length_ns * kDominates;
    add(bad && complete ? Severity::kWarn : Severity::kNote, text, facts_.path->link);
  }
  std::string orchestrator_advice() const {
    if (facts_.limit && facts_.limit->is_nearly_full())
      return fmt::format("the {} was full: raise {}", place_text(*facts_.limit),
                         facts_.limit->flag);
    return "submits come too late: give each task more work, or submit earlier what the path waits "
           "for";
  }
  std::string execution_advice() const {
    if (facts_.path->kernel.empty()) return "faster kernels shorten the run";
    return fmt::format("{} of it in `{}`: a faster one shortens the run",
                       percent(facts_.path->kernel_share), facts_.path->kernel);
  }

  void add_limit() {
    if (!facts_.limit || facts_.limit->peak == 0) return;
    const std::string place = place_text(*facts_.limit);
    const auto names_it = [&](const RunError& error) {
      return error.message.find(place) != std::string::npos;
    };
    if (std::ranges::any_of(facts_.warnings, names_it) || (facts_.error && names_it(*facts_.error)))
      return;  // said already
    add(facts_.limit->is_nearly_full() ? Severity::kWarn : Severity::kNote,
        "Closest to its limit: " + limit_text(*facts_.limit),
        {.panel = "scopes", .site = facts_.limit->site});
  }

  void add_starvation() {
    std::vector<std::string> parts;
    double most = 0;
    for (const Starvation& starved : facts_.starvation) {
      if (!(starved.share >= kStarvationNews)) continue;
      most = std::max(most, starved.share);
      parts.push_back(fmt::format("{} cores for {} of their time ({} in all)",
                                  starved.type == CoreType::kAic ? "AIC" : "AIV",
                                  percent(starved.share), duration(starved.core_ns)));
    }
    if (parts.empty()) return;
    add(most >= kStarvationBad ? Severity::kWarn : Severity::kNote,
        fmt::format("Cores were idle although a task was ready: {}; a dispatch takes long beside "
                    "the tasks",
                    joined(parts, ", ")),
        {});
  }

  void add_stalls() {
    if (!(facts_.stall_share >= kStallNews)) return;
    add(facts_.stall_share >= kStallBad ? Severity::kWarn : Severity::kNote,
        fmt::format("Recording slowed the run: producers waited for the recorder {} of the time; "
                    "record less, or raise --pool-bytes or --drain-threads",
                    percent(facts_.stall_share)),
        facts_.stall_link);
  }

  void add_kernel() {
    if (!facts_.kernel || facts_.kernel->blocks == 0) return;
    const KernelFact& kernel = *facts_.kernel;
    add(Severity::kNote,
        fmt::format("`{}` takes {} of the time in kernels: {} of {} on average, the longest {}",
                    kernel.name, percent(kernel.share), plural(kernel.blocks, "block", "blocks"),
                    duration(kernel.mean_ns), duration(kernel.most_ns)),
        kernel.link);
  }

  void add_nothing_lost() {
    if (!facts_.losses.empty() || !facts_.loss_known) return;
    std::string text = "Nothing was lost";
    if (facts_.produced > 0)
      text +=
          fmt::format(": {} here", facts_.produced == 1
                                       ? "the one record is"
                                       : "all " + with_commas(facts_.produced) + " records are");
    if (facts_.stall_share < kStallNews)
      text += fmt::format("; producers waited for the recorder {} of the time",
                          percent(facts_.stall_share));
    add(Severity::kNote, text, {});
  }

  const RunFacts& facts_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> find_findings(const RunFacts& facts) { return FindingList(facts).make(); }

}  // namespace tidemark
