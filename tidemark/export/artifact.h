// SPDX-License-Identifier: Apache-2.0
// An artifact: one file made from the capture. A new one is a source file here and a line in
// artifact_table.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tidemark/base/expected.h"
#include "tidemark/capture/capture_reader.h"
#include "tidemark/schema/stream_id.h"
#include "tidemark/session/description.h"

namespace tidemark {

struct ExportInput {
  CaptureReader& reader;
  const CaptureDescription& description;
  const RunClock& clock;
  const NameTexts& names;
};

struct Artifact {
  std::string_view file;  // relative to the run's directory
  StreamId stream;        // whose records it shows; it is written if that stream has a lane
  std::string_view content;
  Expected<void> (*write)(ExportInput& input, const std::string& path);
};

std::span<const Artifact> artifacts();

Expected<void> write_swimlane_json(ExportInput& input, const std::string& path);
Expected<void> write_name_map(ExportInput& input, const std::string& path);

}  // namespace tidemark
