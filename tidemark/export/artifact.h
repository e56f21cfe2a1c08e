// SPDX-License-Identifier: Apache-2.0
// An artifact: one file made from the capture. A new one is a source file here and a line in
// artifact_table.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tidemark/base/expected.h"
#include "tidemark/run/run_capture.h"

namespace tidemark {

struct Artifact {
  std::string_view file;  // relative to the run's directory
  StreamId stream;        // whose records it shows; it is written if that stream has a lane
  bool on_request;        // never written by itself
  std::string_view content;
  Expected<void> (*write)(RunCapture& run, const std::string& path);
};

std::span<const Artifact> artifacts();

Expected<void> write_swimlane_json(RunCapture& run, const std::string& path);
Expected<void> write_name_map(RunCapture& run, const std::string& path);
Expected<void> write_deps_json(RunCapture& run, const std::string& path);
Expected<void> write_scope_lines(RunCapture& run, const std::string& path);
Expected<void> write_scope_summary(RunCapture& run, const std::string& path);
Expected<void> write_dump_manifest(RunCapture& run, const std::string& path);
Expected<void> write_dump_payload(RunCapture& run, const std::string& path);
Expected<void> write_perfetto_trace(RunCapture& run, const std::string& path);

}  // namespace tidemark
