// SPDX-License-Identifier: Apache-2.0
// Everything the documents of a run are made of, analysed once, and what they have in common: where
// they go and how they write tasks, times and places.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/analyze/critical_path.h"
#include "tidemark/analyze/dump_index.h"
#include "tidemark/analyze/first_nan.h"
#include "tidemark/analyze/hang_report.h"
#include "tidemark/analyze/scope_report.h"
#include "tidemark/run/json_fields.h"
#include "tidemark/tiles/documents.h"
#include "tidemark/tiles/findings.h"
#include "tidemark/tiles/raw_deflate.h"

namespace tidemark {

// Records that one lane lost in one place, or for one reason.
struct LossRow {
  LaneIndex lane = 0;
  std::uint64_t lost = 0;
  std::string_view reason;
  std::uint64_t from_ticks = 0, to_ticks = 0;
};

struct NotMade {
  std::string document;
  std::string why;
};

struct AnalysedRun {
  RunCapture& run;
  const TrackList& tracks;
  const DocumentOptions& options;

  std::optional<RunReport> report = {};  // run.json
  std::uint64_t produced = 0;            // records of all lanes
  std::vector<LossRow> losses = {};      // largest first
  std::optional<LaneGap> longest_stall = {};
  std::optional<Timeline> timeline = {};
  std::optional<TaskGraph> graph = {};
  TaskGraph::Links links = {};           // of the graph
  std::optional<GraphTimes> times = {};  // of the graph, if spans were recorded too
  std::optional<CriticalPath> path = {};
  std::vector<Starvation> starvation = {};
  std::optional<ScopeReport> scopes = {};
  std::optional<DumpIndex> dump = {};  // in the order of the rows of tensors/
  std::uint64_t stats_unknown = 0;     // tensors of which there are none
  NanReport nans = {};                 // indices of `dump`
  bool nans_are_nan = false;           // false: of infinities alone
  std::optional<HangReport> hang = {};
  std::vector<NotMade> not_made = {};

  [[nodiscard]] RunStatus status() const;
  // Null: none, or not known.
  [[nodiscard]] const RunError* error() const;
  [[nodiscard]] std::uint64_t time_of(std::uint64_t ticks) const { return tracks.time_of(ticks); }
  [[nodiscard]] std::optional<TrackNumber> track_of_core(std::uint32_t core) const;
  // What is missing of a lane.
  [[nodiscard]] std::optional<TrackNumber> loss_track_of(LaneIndex lane) const;
};

Expected<AnalysedRun> analyse_run(RunCapture& run, const TrackList& tracks,
                                  const DocumentOptions& options);

RunFacts facts_of(const AnalysedRun& analysed);

// "0x" and 16 digits: texts of ids sort as the ids do.
std::string id_text(std::uint64_t task_id);

inline constexpr std::uint32_t kRowsPerPage = 2048;
inline constexpr int kNsDecimals = 4;
inline constexpr int kAllDecimals = 324;  // of a double that must come back as it was

// Compresses documents on their way to the sink.
class DocumentSink {
 public:
  explicit DocumentSink(TileSink& sink) : sink_(sink) {}

  Expected<void> put_bytes(const std::string& name, std::span<const unsigned char> bytes) {
    return sink_.put(name, deflate_.compress(bytes));
  }
  // An object; `fill(json)` puts its members.
  template <class Fill>
  Expected<void> put_object(const std::string& name, int decimals, const Fill& fill) {
    buffer_.Clear();
    CompactJsonWriter json(buffer_);
    json.SetMaxDecimalPlaces(decimals);
    tidemark::put_object(json, [&] { fill(json); });
    return put_bytes(
        name, {reinterpret_cast<const unsigned char*>(buffer_.GetString()), buffer_.GetSize()});
  }

 private:
  TileSink& sink_;
  RawDeflate deflate_;
  rapidjson::StringBuffer buffer_;
};

// Pages of tasks for each ring: the lowest and the highest id that a page has of the ring. Pages
// overlap where ids do not grow with the rows.
class TaskPages {
 public:
  void add(std::uint64_t task_id, std::uint64_t row);
  // An array of [lowest, highest, page].
  void put(CompactJsonWriter& json, std::string_view key) const;

 private:
  struct Entry {
    std::uint64_t lowest, highest;
    std::uint64_t page;
    std::uint32_t ring;
  };
  std::vector<Entry> entries_;
};

Expected<void> put_overview(const AnalysedRun& analysed, DocumentSink& sink);
Expected<void> put_scopes(const AnalysedRun& analysed, DocumentSink& sink);
Expected<void> put_hang(const AnalysedRun& analysed, DocumentSink& sink);
// The document and its pages.
Expected<void> put_graph(const AnalysedRun& analysed, DocumentSink& sink);
Expected<void> put_tensors(const AnalysedRun& analysed, DocumentSink& sink, DocumentList& list);

}  // namespace tidemark
