// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/run_list.h"

#include <algorithm>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>

#include "tidemark/capture/chunk.h"
#include "tidemark/run/json_fields.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRunsListed = 1000;

std::string time_text(std::uint64_t ns) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(ns / 1'000'000'000)));
}

}  // namespace

std::string run_key(const std::string& directory) {
  std::error_code code;
  const fs::path whole = fs::weakly_canonical(directory, code);
  const std::string text = code ? directory : whole.string();
  return fmt::format("{:016x}", checksum(text.data(), text.size()));
}

void RunList::look() {
  rows_.clear();
  by_key_.clear();
  std::error_code code;
  for (fs::directory_iterator entry(folder_, code), end; !code && entry != end;
       entry.increment(code)) {
    Row row{.directory = entry->path().string(), .name = entry->path().filename().string()};
    row.files = RunFiles::look(row.directory);
    if (row.files.report.inode != 0) rows_.push_back(std::move(row));
  }
  std::ranges::sort(rows_, [](const Row& a, const Row& b) {
    if (a.files.report.changed_ns != b.files.report.changed_ns)
      return a.files.report.changed_ns > b.files.report.changed_ns;
    return a.name < b.name;
  });
  left_out_ = rows_.size() > kRunsListed ? rows_.size() - kRunsListed : 0;
  rows_.resize(rows_.size() - left_out_);
  for (const Row& row : rows_) by_key_.emplace(run_key(row.directory), row.directory);
}

// Null: its run.json cannot be read.
const RunReport* RunList::report_of(const Row& row) {
  const auto found = known_.find(row.directory);
  if (found != known_.end() && found->second.files.report == row.files.report)
    return &found->second.report;
  auto report = read_run_report(row.directory);
  if (!report) return nullptr;
  return &known_.insert_or_assign(row.directory, Known{row.files, std::move(*report)})
              .first->second.report;
}

std::string RunList::json() {
  look();
  if (known_.size() > 2 * kRunsListed) known_.clear();
  return json_text([&](CompactJsonWriter& json) {
    put_list(json, "runs", rows_, [&](const Row& row) {
      const RunReport* report = report_of(row);
      put(json, "name", plain_text(row.name));
      put(json, "path", "run/" + run_key(row.directory) + "/");
      put(json, "title", report == nullptr ? "its run.json cannot be read" : run_title(*report));
      put(json, "workload", report == nullptr ? "" : report->workload);
      put(json, "case", report == nullptr ? "" : report->case_name);
      put(json, "platform", report == nullptr ? "" : report->platform);
      put(json, "status", report == nullptr ? "unknown" : to_text(report->status));
      put(json, "live", report != nullptr && is_going_on(*report));
      put(json, "time", time_text(row.files.report.changed_ns));
      put(json, "bytes", row.files.capture.bytes);
    });
    put(json, "left_out", left_out_);
  });
}

}  // namespace tidemark
