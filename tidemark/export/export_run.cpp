// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/export_run.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tidemark/analyze/dump_index.h"
#include "tidemark/base/fault_plan.h"
#include "tidemark/base/nearest_name.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/hang_json.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kLargeDumpBytes = 256ull << 20;

// Tasks of raw words that nobody described run, but have nothing to dump; what points nowhere is
// not followed.
Expected<void> warn_of_skipped(RunCapture& run, RunReport& report) {
  if (!run.has(StreamId::kDump) || !run.runtime()) return {};
  // To look for it in a large dump costs more than the warning is worth: the manifest has it too.
  std::uint64_t bytes = 0;
  for (const auto& lane : report.lanes)
    if (lane.stream == find_stream(StreamId::kDump)->name) bytes += lane.counts.bytes;
  if (run.runtime()->build != BuildKind::kHostBuild && bytes > kLargeDumpBytes) return {};
  TM_TRY(const auto index, read_dump(run));
  if (!index.invalid.empty())
    report.warnings.push_back(
        {.code = 0,
         .name = "DUMP_INVALID",
         .error_class = "warning",
         .message = fmt::format("{} argument{} not dumped: the view points outside of the device's "
                                "memory, or has an impossible rank or type; the first is {}",
                                index.invalid.size(), index.invalid.size() == 1 ? "" : "s",
                                index.invalid.front()),
         .hint = "a description that is wrong (set_tensor_info_to_task), or a task that was "
                 "overwritten"});
  if (index.skipped_tasks == 0) return {};
  report.warnings.push_back(
      {.code = 0,
       .name = "DUMP_SKIPPED",
       .error_class = "warning",
       .message = fmt::format("{} task{} of {} not dumped: the arguments are words that nobody "
                              "described",
                              index.skipped_tasks, index.skipped_tasks == 1 ? "" : "s",
                              fmt::join(index.skipped_kernels, ", ")),
       .hint = "say what the words stand for: add_task_with_tensor_info or "
               "set_tensor_info_to_task"});
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
    std::uint64_t records = 0, bytes = 0;
    for (const auto& lane : report.lanes)
      if (lane.stream == find_stream(artifact.stream)->name) {
        records += lane.counts.delivered + lane.counts.recovered;
        bytes += lane.counts.bytes;
      }
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
    TM_TRY_DO(artifact.write(run, directory + "/" + file));
  }
  return warn_of_skipped(run, report);
}

Expected<std::vector<std::string>> export_files(const std::string& directory,
                                                const std::vector<std::string>& files) {
  TM_TRY(auto run, RunCapture::open(directory));
  std::vector<const Artifact*> wanted;
  for (const auto& file : files) {
    const auto list = artifacts();
    const auto found = std::find_if(
        list.begin(), list.end(), [&](const Artifact& artifact) { return artifact.file == file; });
    if (found == list.end()) {
      std::string known;
      for (const auto& artifact : list) known += fmt::format(" {}", artifact.file);
      return failure(ErrorKind::kUsage, "{} is not an artifact; known are:{}{}", file, known,
                     did_you_mean(file, list, &Artifact::file));
    }
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
