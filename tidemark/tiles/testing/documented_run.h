// SPDX-License-Identifier: Apache-2.0
// Test support: a capture that was written by hand, and the documents that are made of it.
#pragma once

#include <memory>

#include "tidemark/analyze/testing/hand_capture.h"
#include "tidemark/tiles/documents.h"
#include "tidemark/tiles/testing/kept_documents.h"

namespace tidemark::samples {

// Cores first, then what each lane lost, then the counters of the rings.
inline TrackList tracks_by_hand(const RunCapture& run) {
  TrackList list;
  list.epoch_ticks = run.clock().launch_ticks;
  list.ticks_per_second = run.clock().ticks_per_second;
  const auto add = [&](const Track& track) { list.tracks.push_back(track); };
  for (std::uint32_t core = 0; run.runtime() && core < run.runtime()->core_count(); ++core) {
    list.track_of_core.push_back(core);
    add({.kind = TrackKind::kCore, .name = "core", .unit = "core"});
  }
  for (LaneIndex lane = 0; lane < run.lanes().size(); ++lane)
    add({.kind = TrackKind::kLoss, .name = "lost", .unit = "lane", .lanes = {lane}});
  for (std::uint32_t ring = 0; ring < kRingCount; ++ring)
    for (const SampleKind sample : {SampleKind::kLiveTasks, SampleKind::kHeapBytes})
      add({.kind = TrackKind::kCounter,
           .name = "ring",
           .unit = "ring",
           .sample = sample,
           .ring = ring});
  return list;
}

inline RuntimeConfig all_streams() {
  RuntimeConfig config;
  config.cluster_count = 1;
  config.scheduler_count = 1;
  config.streams[StreamId::kSwimlane] = 2;
  config.streams[StreamId::kEdges] = 1;
  config.streams[StreamId::kScopes] = 1;
  config.streams[StreamId::kDump] = 1;
  return config;
}

struct DocumentedRun {
  std::unique_ptr<TemporaryDirectory> directory = std::make_unique<TemporaryDirectory>();
  KeptDocuments tiles = {};
  DocumentList list = {};

  // Rows of all pages, one after the other.
  [[nodiscard]] std::vector<rapidjson::Document> rows(const std::string& pages,
                                                      const char* key) const {
    std::vector<rapidjson::Document> rows;
    for (std::size_t page = 0; tiles.has(pages + std::to_string(page)); ++page) {
      const auto document = tiles.json(pages + std::to_string(page));
      for (const auto& row : document[key].GetArray()) {
        rows.emplace_back();
        rows.back().CopyFrom(row, rows.back().GetAllocator());
      }
    }
    return rows;
  }
};

// `report`: of run.json; without one there is no such file.
inline DocumentedRun document(const HandCapture& capture, const CaptureEnd& end = {},
                              const RunReport* report = nullptr,
                              const DocumentOptions& options = {}) {
  DocumentedRun made;
  RunCapture run = capture.open(*made.directory, end);
  if (report != nullptr) TM_CHECK(write_run_report(made.directory->path(), *report));
  made.list = make_documents(run, tracks_by_hand(run), options, made.tiles).value();
  return made;
}

inline RunReport report_of(RunStatus status) {
  RunReport report;
  report.run_id = kRunId;
  report.status = status;
  return report;
}

}  // namespace tidemark::samples
