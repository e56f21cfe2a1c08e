// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/export_run.h"

#include <algorithm>
#include <filesystem>

#include "tidemark/export/artifact.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/session/output_directory.h"

namespace tidemark {
namespace {

// The capture opened once for all artifacts of a call.
struct OpenInput {
  CaptureReader reader;
  CaptureDescription description;
  RunClock clock;
  NameTexts names;
};

Expected<OpenInput> open_input(const std::string& directory) {
  const std::string path = directory + "/" + kCaptureFile;
  std::error_code code;
  if (!std::filesystem::exists(path, code))
    return failure(ErrorKind::kUsage, "{} is not a run with a capture: {} is missing", directory,
                   kCaptureFile);
  auto reader = CaptureReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  auto description = read_description(*reader);
  if (!description) return tl::unexpected(description.error());
  RunClock clock = read_clock(*reader);
  NameTexts names = read_names(*reader);
  return OpenInput{std::move(*reader), std::move(*description), std::move(clock), std::move(names)};
}

bool has_lane(const CaptureDescription& description, StreamId stream) {
  return std::any_of(description.lanes.begin(), description.lanes.end(), [&](const LanePlan& lane) {
    return lane.stream == static_cast<std::uint16_t>(stream);
  });
}

Expected<void> write_one(OpenInput& open, const Artifact& artifact, const std::string& path) {
  ExportInput input{open.reader, open.description, open.clock, open.names};
  return artifact.write(input, path);
}

}  // namespace

Expected<void> export_automatically(const std::string& directory, RunReport& report,
                                    const ExportOptions& options) {
  std::error_code code;
  if (!std::filesystem::exists(directory + "/" + kCaptureFile, code)) return {};
  auto open = open_input(directory);
  if (!open) return tl::unexpected(open.error());
  report.not_exported.clear();
  for (const auto& artifact : artifacts()) {
    if (!has_lane(open->description, artifact.stream)) continue;
    std::uint64_t records = 0;
    for (const auto& lane : report.lanes)
      if (lane.stream == find_stream(artifact.stream)->name)
        records += lane.counts.delivered + lane.counts.recovered;
    const std::string file(artifact.file);
    if (options.only_on_request || records > options.limit) {
      report.not_exported.push_back(
          {.file = file,
           .reason =
               options.only_on_request
                   ? "this workload exports only on request"
                   : fmt::format("{} records, more than --export-limit {}", records, options.limit),
           .command = fmt::format("tidemark export {} {}", directory, file)});
      continue;
    }
    if (auto written = write_one(*open, artifact, directory + "/" + file); !written) return written;
  }
  return {};
}

Expected<std::vector<std::string>> export_files(const std::string& directory,
                                                const std::vector<std::string>& files) {
  auto open = open_input(directory);
  if (!open) return tl::unexpected(open.error());
  std::vector<const Artifact*> wanted;
  for (const auto& file : files) {
    const auto list = artifacts();
    const auto found = std::find_if(
        list.begin(), list.end(), [&](const Artifact& artifact) { return artifact.file == file; });
    if (found == list.end()) {
      std::string known;
      for (const auto& artifact : list) known += fmt::format(" {}", artifact.file);
      return failure(ErrorKind::kUsage, "{} is not an artifact; known are:{}", file, known);
    }
    wanted.push_back(&*found);
  }
  if (files.empty())
    for (const auto& artifact : artifacts())
      if (has_lane(open->description, artifact.stream)) wanted.push_back(&artifact);
  std::vector<std::string> written;
  for (const Artifact* artifact : wanted) {
    const std::string path = fmt::format("{}/{}", directory, artifact->file);
    if (auto put = write_one(*open, *artifact, path); !put) return tl::unexpected(put.error());
    written.push_back(path);
  }
  return written;
}

}  // namespace tidemark
