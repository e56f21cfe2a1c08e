// SPDX-License-Identifier: Apache-2.0
#include "tests/approved/filter.h"

#include <algorithm>
#include <regex>
#include <string_view>
#include <vector>

namespace tidemark::approved {
namespace {

// The value of a JSON field becomes <name of the field>; key, quotes and everything else stay.
constexpr std::string_view kFields[] = {
    // Who ran it, and where.
    "run_id",
    "host_id",
    "boot_id",
    "host_name",
    "pid_namespace",
    "host_pid",
    "host_start_time",
    // Times of the host, which has the system's clock.
    "host_ns",
    "host_cpu_ns",
    "ns_per_record",
    "real_ns",
    "device_ticks",
    "uncertainty_ns",
    // When a hang was found: the host's time. What is measured back from there.
    "detected_ns",
    "detected_ticks",
    "for_ns",
    "elapsed_ns",
    // How far the drainer was behind, which depends on the machine's other work.
    "min_free_pages",
    "max_full_pages",
    "drained_pages",
    "pages_per_second",
};

// In lines that contain `trigger`, what matches `pattern` becomes `replacement`.
struct LineFilter {
  const char* trigger;
  const char* pattern;
  const char* replacement;
};

#define DURATION "[0-9.]+ (ns|us|ms|s)"
const LineFilter kLines[] = {
    // The host's times in the summary of a run.
    {"  time       device ", ", host " DURATION, ", host <time>"},
    {" of host processor time", "recorder   [0-9.]+ ns", "recorder   <time>"},
    {" of host processor time", ", " DURATION " of", ", <time> of"},
    // A hang, measured back from when the host found it.
    {" has been in kernel ", "\\) for " DURATION, ") for <time>"},
    {", after ", "(SCHEDULER_TIMEOUT: .*|interrupted), after " DURATION, "$1, after <time>"},
    {"cores      ", "(core [0-9]+ [a-z_]+ (r[0-9])?t[0-9]+) " DURATION, "$1 <time>"},
    // A look from another process, by that one's clock.
    {" since launch", ": " DURATION " since launch", ": <time> since launch"},
    {"orchestrator ", "^(\\| orchestrator .* for) " DURATION "$", "$1 <time>"},
    {"  core ", "^(\\|   core .*) " DURATION "$", "$1 <time>"},
    // How often the clock was read: each reading is a chunk.
    {" chunks, ", ": [0-9]+ chunks, ([0-9]+ pages?), .*", ": <n> chunks, $1, <bytes>"},
    {" bytes at ", "[0-9]+ bytes at [0-9]+", "<n> bytes at <offset>"},
    // Names of regions and processes.
    {"tidemark-", "tidemark-[0-9a-f]{16}", "tidemark-<run_id>"},
    {"host process ", "host process [0-9]+ on [^ ]+ \\(boot [0-9a-f]+, pid namespace [0-9]+\\)",
     "host process <pid> on <host> (boot <id>, pid namespace <id>)"},
    // What this build and this machine know of GPUs (the rows of the platforms stay).
    {"  cuda ", "^\\|   cuda( [0-9]+)? +(?! |NVIDIA GPU;).*", "|   cuda                 <device>"},
};
#undef DURATION

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

void replace_values(std::string& text, std::string_view field) {
  const std::string key = "\"" + std::string(field) + "\":";
  const std::string shown = "<" + std::string(field) + ">";
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos;) {
    at += key.size();
    while (at < text.size() && text[at] == ' ') ++at;
    const bool quoted = at < text.size() && text[at] == '"';
    if (quoted) ++at;
    const std::size_t end = text.find_first_of(quoted ? "\"" : ",}]\n", at);
    if (end == std::string::npos) return;
    if (text[at] != '{' && text[at] != '[') text.replace(at, end - at, shown);
  }
}

// Readings of the clock: a slow machine takes more of them, and the first one stays.
void keep_one_anchor(std::string& text) {
  const std::string key = "\"anchors\":";
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string::npos; at += key.size()) {
    const std::size_t end = text.find(']', at);
    const std::size_t first = text.find('}', at);
    if (end == std::string::npos || first > end) continue;
    const std::size_t last = text.rfind('}', end);
    text.erase(first, last - first);
  }
}

std::string filter_line(std::string line) {
  static const std::vector<std::regex> patterns = [] {
    std::vector<std::regex> made;
    for (const auto& filter : kLines) made.emplace_back(filter.pattern);
    return made;
  }();
  for (std::size_t i = 0; i < std::size(kLines); ++i)
    if (line.find(kLines[i].trigger) != std::string::npos)
      line = std::regex_replace(line, patterns[i], kLines[i].replacement);
  return line;
}

}  // namespace

std::string filtered(const std::string& text, const std::string& directory) {
  std::string result = text;
  replace_all(result, directory, "<dir>");
  for (const auto field : kFields) replace_values(result, field);
  keep_one_anchor(result);
  std::string lines;
  for (std::size_t at = 0; at < result.size();) {
    const std::size_t end = std::min(result.find('\n', at), result.size());
    lines += filter_line(result.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return lines;
}

}  // namespace tidemark::approved
