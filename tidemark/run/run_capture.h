// SPDX-License-Identifier: Apache-2.0
// A run's capture opened for reading, with everything that explains it: lanes, names, clock, how
// the run ended. Analyses and exporters start here.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidemark/run/description.h"
#include "tidemark/run/hang_state.h"
#include "tidemark/run/lane_losses.h"
#include "tidemark/run/record_cursor.h"
#include "tidemark/run/task_text.h"
#include "tidemark/schema/user_event.h"

namespace tidemark {

class RunCapture {
 public:
  // kLive: of a run that is going on, what is there so far.
  static Expected<RunCapture> open(const std::string& directory,
                                   CaptureReader::Open how = CaptureReader::Open::kIndexed);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const CaptureDescription& description() const { return description_; }
  [[nodiscard]] const std::optional<RuntimeConfig>& runtime() const { return description_.runtime; }
  [[nodiscard]] const RunClock& clock() const { return clock_; }
  // Nothing: the host never came to the end of the run.
  [[nodiscard]] const std::optional<RunReport>& outcome() const { return outcome_; }
  // The program did not come to its end.
  [[nodiscard]] bool fatal() const;
  // The state of the runtime when the run was stopped; nothing: it was not.
  [[nodiscard]] std::optional<HangState> hang();
  // fn(frame, number of the chunk) for what the host saw of tasks that were running then.
  void for_each_snapshot(
      const std::function<void(std::span<const unsigned char>, std::uint32_t)>& fn);

  [[nodiscard]] std::size_t chunk_count() const { return reader_.chunks().size(); }
  // Also lanes that were opened at run time.
  [[nodiscard]] const std::vector<LanePlan>& lanes() const { return lanes_; }
  [[nodiscard]] std::vector<LaneIndex> lanes_of(StreamId stream) const;
  [[nodiscard]] bool has(StreamId stream) const { return !lanes_of(stream).empty(); }
  [[nodiscard]] RecordCursor records(LaneIndex lane);
  [[nodiscard]] PageCursor pages(LaneIndex lane);
  // The chunks of its pages, in sequence.
  [[nodiscard]] const std::vector<IndexEntry>& page_chunks_of(LaneIndex lane) const {
    return pages_[lane];
  }
  // The header of a page without its records, and so without its checksum. Nothing: it makes no
  // sense by itself.
  [[nodiscard]] std::optional<PageHeaderImage> page_header(const IndexEntry& chunk) const;

  // In place of what the capture says.
  void replace_names(NameTexts names) { names_ = std::move(names); }
  [[nodiscard]] std::string name_of(std::uint64_t hash) const;
  [[nodiscard]] std::string kernel_name(std::uint32_t kernel) const;
  [[nodiscard]] std::string site_of(std::uint64_t file_hash, std::uint32_t line) const;

  // Every place where something was lost or where a producer waited.
  Expected<std::vector<LaneGap>> gaps();
  // The same with what is in no page, and the counts of the ledger by lane. Reads every page, once.
  Expected<std::reference_wrapper<const LaneLosses>> lane_losses();
  // fn(fragment, number of the chunk, offset in its payload) for a framed lane, in order.
  void for_each_fragment_of(
      LaneIndex lane, const std::function<void(const Fragment&, std::uint32_t, std::uint64_t)>& fn);
  // The payload of a page's chunk; valid until the next one of its lane is read. Each lane's last
  // one is kept: whoever reads task by task goes from lane to lane and back.
  Expected<std::span<const unsigned char>> read_chunk(std::uint32_t chunk);

  struct Losses {
    std::uint64_t dropped = 0;  // or unaccounted
    std::uint64_t overwritten = 0;
  };
  Expected<Losses> losses(StreamId stream);
  Expected<Losses> losses_of(LaneIndex lane);
  // Records of a stream that were attempted and are not here.
  Expected<std::uint64_t> missing(StreamId stream);

  // fn(record, lane) for every record of a stream that has one kind, lane by lane.
  template <class R, class Fn>
  void for_each(const Fn& fn) {
    for (const LaneIndex lane : lanes_of(R::kStream)) {
      RecordCursor cursor = records(lane);
      while (cursor.next()) fn(cursor.as<R>(), lane);
    }
  }

 private:
  explicit RunCapture(CaptureReader reader) : reader_(std::move(reader)) {}
  Expected<void> read_losses();  // once
  [[nodiscard]] std::uint32_t number_of(const IndexEntry& chunk) const;

  std::string directory_;
  CaptureReader reader_;
  CaptureDescription description_;
  RunClock clock_;
  NameTexts names_;
  std::optional<RunReport> outcome_;
  std::vector<LanePlan> lanes_;
  std::vector<std::vector<IndexEntry>> pages_;  // by lane, in sequence
  struct KeptChunk {
    std::uint32_t chunk = ~0u;
    std::vector<unsigned char> bytes;
  };
  std::vector<KeptChunk> kept_;  // by lane; the last one is for all else
  std::optional<LaneLosses> losses_;
};

}  // namespace tidemark
