// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/export_run.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tidemark/analyze/dump_index.h"
#include "tidemark/base/fault_plan.h"
#include "tidemark/base/human_text.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/hang_json.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kLargeDumpBytes = 256ull << 20;

LaneCounts counts_of(const RunReport& report, StreamId stream) {
  LaneCounts sum;
  for (const auto& lane : report.lanes)
    if (lane.stream == find_stream(stream)->name) sum.add(lane.counts);
  return sum;
}

// Tasks of raw words that nobody described run, but have nothing to dump; what points nowhere is
// not followed.
Expected<void> warn_of_skipped(RunCapture& run, RunReport& report) {
  if (!run.has(StreamId::kDump) || !run.runtime()) return {};
  // To look for it in a large dump costs more than the warning is worth: the manifest has it too.
  if (run.runtime()->build != BuildKind::kHostBuild &&
      counts_of(report, StreamId::kDump).bytes > kLargeDumpBytes)
    return {};
  TM_TRY(const auto index, read_dump(run));
  const auto warn = [&](const char* name, const std::string& message, const char* hint) {
    report.warnings.push_back(
        {.code = 0, .name = name, .error_class = "warning", .message = message, .hint = hint});
  };
  if (!index.invalid.empty())
    warn("DUMP_INVALID",
         fmt::format("{} argument{} not dumped: the view points outside of the device's memory, or "
                     "has an impossible rank or type; the first is {}",
                     index.invalid.size(), index.invalid.size() == 1 ? "" : "s",
                     index.invalid.front()),
         "a description that is wrong (set_tensor_info_to_task), or a task that was overwritten");
  if (index.skipped_tasks > 0)
    warn("DUMP_SKIPPED",
         fmt::format("{} task{} of {} not dumped: the arguments are words that nobody described",
                     index.skipped_tasks, index.skipped_tasks == 1 ? "" : "s",
                     fmt::join(index.skipped_kernels, ", ")),
         "say what the words stand for: add_task_with_tensor_info or set_tensor_info_to_task");
  return {};
}

}  // namespace

Expected<void> export_automatically(const std::string& directory, RunReport& report,
                                    const ExportOptions& options) {
  std::error_code code;
  if (!std::filesystem::exists(directory + "/" + kCaptureFile, code)) {
    if (!report.hang) return {};
    return write_hang_files(make_hang_report(*report.hang, nullptr), directory);
  }
  TM_TRY(auto run, RunCapture::open(directory));
  // First: it is what a person wants first, and it is small.
  if (const auto state = run.hang())
    TM_TRY_DO(write_hang_files(make_hang_report(*state, &run), directory));
  report.not_exported.clear();
  for (const auto& artifact : artifacts()) {
    if (artifact.on_request || !run.has(artifact.stream)) continue;
    const LaneCounts counts = counts_of(report, artifact.stream);
    const std::uint64_t records = counts.delivered + counts.recovered, bytes = counts.bytes;
    const std::string file(artifact.file);
    const bool too_large = artifact.stream == StreamId::kDump && file.ends_with(".bin") &&
                           bytes > options.payload_limit;
    if (options.only_on_request || too_large || records > options.limit) {
      report.not_exported.push_back(
          {.file = file,
           .reason = options.only_on_request ? "this workload exports only on request"
                     : too_large ? fmt::format("{} bytes, which the capture has already", bytes)
                                 : fmt::format("{} records, more than --export-limit {}", records,
                                               options.limit),
           .command = fmt::format("tidemark export {} {}", directory, file)});
      continue;
    }
    fault_point(FaultPoint::kExport);
    TM_TRY_DO(artifact.write(run, fmt::format("{}/{}", directory, file)));
  }
  return warn_of_skipped(run, report);
}

Expected<std::vector<std::string>> export_files(const std::string& directory,
                                                const std::vector<std::string>& files) {
  TM_TRY(auto run, RunCapture::open(directory));
  std::vector<const Artifact*> wanted;
  for (const auto& file : files) {
    const auto list = artifacts();
    const auto found = std::ranges::find(list, file, &Artifact::file);
    if (found == list.end())
      return failure(ErrorKind::kUsage, "{} is not an artifact; known are: {}{}", file,
                     joined(list, " ", {}, &Artifact::file),
                     did_you_mean(file, list, &Artifact::file));
    if (!found->on_request && !run.has(found->stream))
      return failure(ErrorKind::kUsage, "{}: the run did not record the stream '{}'", file,
                     find_stream(found->stream)->name);
    wanted.push_back(&*found);
  }
  if (files.empty())
    for (const auto& artifact : artifacts())
      if (!artifact.on_request && run.has(artifact.stream)) wanted.push_back(&artifact);
  std::vector<std::string> written;
  for (const Artifact* artifact : wanted) {
    const std::string path = fmt::format("{}/{}", directory, artifact->file);
    TM_TRY_DO(artifact->write(run, path));
    written.push_back(path);
  }
  return written;
}

}  // namespace tidemark
