// SPDX-License-Identifier: Apache-2.0
// l2_swimlane_records.json: one row per task span, the user events, and what was lost where.
#include <cstring>

#include "tidemark/capture/capture_ledger.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/json_file.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

struct Gap {
  std::uint32_t lane;
  std::uint64_t from_ticks;
  std::uint64_t to_ticks;
  std::uint64_t lost;
  DropReason reason;
};

class SwimlaneWriter {
 public:
  SwimlaneWriter(ExportInput& input, JsonFile& file) : input_(input), file_(file) {}

  Expected<void> write() {
    auto& json = file_.json();
    json.StartObject();
    put(json, "schema_version", 1);
    put(json, "l2_swimlane_level", 1);
    put_key(json, "tasks");
    json.StartArray();
    auto ledger =
        read_ledger(input_.reader, input_.description.lanes, input_.description.page_bytes,
                    [this](const CapturedPage& page) { take_page(page); });
    json.EndArray();
    if (!ledger) return tl::unexpected(ledger.error());
    add_tail_gaps(*ledger);
    write_empty_lists();
    write_events(*ledger);
    write_gaps();
    json.EndObject();
    return {};
  }

 private:
  void take_page(const CapturedPage& page) {
    if (page.header.dropped_before > 0)
      gaps_.push_back({page.header.lane, page.header.gap_begin_ticks, page.header.gap_end_ticks,
                       page.header.dropped_before,
                       static_cast<DropReason>(page.header.gap_reason)});
    if (page.lane.stream != static_cast<std::uint16_t>(StreamId::kSwimlane)) return;
    for_each_record(page.header, page.payload, [&](std::uint64_t, const unsigned char* record) {
      std::uint64_t words[TaskSpan::kBytes / 8];
      std::memcpy(words, record, sizeof(words));
      write_task(TaskSpan::unpack(words, page.header.open_ticks));
    });
  }

  void write_task(const TaskSpan& span) {
    auto& json = file_.json();
    const double begin_us = input_.clock.to_us(span.begin_ticks);
    const double end_us = input_.clock.to_us(span.end_ticks);
    file_.line_break();
    json.StartObject();
    put(json, "task_id", span.task_id);
    put(json, "ring_id", span.task_id >> 32);
    put(json, "func_id", static_cast<std::uint32_t>(span.kernel));
    put(json, "func_name",
        span.kernel < input_.description.kernels.size() ? input_.description.kernels[span.kernel]
                                                        : fmt::format("kernel_{}", span.kernel));
    put(json, "core_id", static_cast<std::uint32_t>(span.core));
    put(json, "core_type", std::string_view("aiv"));
    put(json, "block", span.block);
    put(json, "start_time_us", begin_us);
    put(json, "end_time_us", end_us);
    put(json, "duration_us", end_us - begin_us);
    json.EndObject();
  }

  void add_tail_gaps(const CaptureLedger& ledger) {
    for (std::uint32_t i = 0; i < ledger.lanes.size(); ++i) {
      const CapturedLane& lane = ledger.lanes[i];
      if (!lane.has_words) continue;
      CapturedLane copy = lane;
      const std::uint64_t before = copy.ledger.counts().gap_lost;
      copy.ledger.finish(copy.words);
      const std::uint64_t lost = copy.ledger.counts().gap_lost - before;
      if (lost > 0)
        gaps_.push_back({i, lane.words.tail_gap_begin_ticks, lane.words.tail_gap_end_ticks, lost,
                         static_cast<DropReason>(lane.words.tail_gap_reason % kDropReasonCount)});
    }
  }

  void write_empty_lists() {
    auto& json = file_.json();
    for (const char* key :
         {"aicpu_scheduler_phases", "aicpu_orchestrator_phases", "core_to_thread"}) {
      put_key(json, key);
      json.StartArray();
      json.EndArray();
    }
  }

  void write_events(const CaptureLedger& ledger) {
    auto& json = file_.json();
    put_key(json, "events");
    json.StartArray();
    const auto visit = [&](const CapturedPage& page) {
      if (page.lane.stream != static_cast<std::uint16_t>(StreamId::kEvents)) return;
      for_each_record(page.header, page.payload, [&](std::uint64_t, const unsigned char* record) {
        std::uint64_t words[UserEvent::kBytes / 8];
        std::memcpy(words, record, sizeof(words));
        write_event(UserEvent::unpack(words, page.header.open_ticks), page);
      });
    };
    (void)ledger;
    (void)read_ledger(input_.reader, input_.description.lanes, input_.description.page_bytes,
                      visit);
    json.EndArray();
  }

  void write_event(const UserEvent& event, const CapturedPage& page) {
    auto& json = file_.json();
    const auto name = input_.names.find(event.name_hash);
    file_.line_break();
    json.StartObject();
    put(json, "name",
        name == input_.names.end() ? fmt::format("0x{:016x}", event.name_hash) : name->second);
    put(json, "kind", std::string_view(event.kind == EventKind::kCounter ? "counter" : "mark"));
    put(json, "time_us", input_.clock.to_us(event.time_ticks));
    put(json, "value", event.value);
    put(json, "unit", static_cast<std::uint32_t>(event.unit));
    put(json, "lane", page.header.lane);
    json.EndObject();
  }

  void write_gaps() {
    auto& json = file_.json();
    put_key(json, "gaps");
    json.StartArray();
    for (const auto& gap : gaps_) {
      file_.line_break();
      json.StartObject();
      put(json, "lane", gap.lane);
      put(json, "from", input_.clock.to_us(gap.from_ticks));
      put(json, "to", input_.clock.to_us(gap.to_ticks));
      put(json, "lost", gap.lost);
      put(json, "reason", std::string_view(to_text(gap.reason)));
      json.EndObject();
    }
    json.EndArray();
  }

  ExportInput& input_;
  JsonFile& file_;
  std::vector<Gap> gaps_;
};

}  // namespace

Expected<void> write_swimlane_json(ExportInput& input, const std::string& path) {
  auto file = JsonFile::create(path);
  if (!file) return tl::unexpected(file.error());
  if (auto written = SwimlaneWriter(input, **file).write(); !written) return written;
  return (*file)->finish();
}

Expected<void> write_name_map(ExportInput& input, const std::string& path) {
  auto file = JsonFile::create(path);
  if (!file) return tl::unexpected(file.error());
  auto& json = (*file)->json();
  json.StartObject();
  put_key(json, "callable_id_to_name");
  json.StartObject();
  for (std::size_t i = 0; i < input.description.kernels.size(); ++i)
    put(json, fmt::format("{}", i), input.description.kernels[i]);
  json.EndObject();
  put(json, "orchestrator_name", input.description.run.workload);
  put(json, "level", 2);
  json.EndObject();
  return (*file)->finish();
}

}  // namespace tidemark
