// SPDX-License-Identifier: Apache-2.0
#include "tests/run_audit.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "tests/oldest_kept.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/ledger/page_content.h"
#include "tidemark/run/description.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/schema/graph_record.h"
#include "tidemark/schema/phase_span.h"
#include "tidemark/schema/scope_boundary.h"
#include "tidemark/schema/task_span.h"
#include "tidemark/schema/user_event.h"

namespace tidemark {
namespace {

// A record that nobody counted: at least what its stream can hold.
bool is_sane(StreamId stream, const unsigned char* record) {
  std::uint64_t words[ScopeBoundary::kBytes / 8] = {};
  const auto load = [&](std::uint32_t bytes) { std::memcpy(words, record, bytes); };
  switch (stream) {
    case StreamId::kSwimlane: {
      load(TaskSpan::kBytes);
      const auto span = TaskSpan::unpack(words, words[3]);
      return span.begin_ticks > 0 && span.task_id >> 32 < kRingCount;
    }
    case StreamId::kPhases:
      load(SchedulerPhase::kBytes);
      return phase_kind(words) >= PhaseKind::kComplete && phase_kind(words) <= PhaseKind::kSubmit;
    case StreamId::kEdges:
      load(GraphTask::kBytes);
      return graph_record_kind(words) >= GraphRecordKind::kTask &&
             graph_record_kind(words) <= GraphRecordKind::kEdge;
    case StreamId::kScopes: {
      load(ScopeBoundary::kBytes);
      const auto scope = ScopeBoundary::unpack(words, words[1]);
      return scope.file != 0 && scope.ring < kRingCount && scope.serial != 0;
    }
    case StreamId::kEvents: {
      load(UserEvent::kBytes);
      const auto event = UserEvent::unpack(words, words[1]);
      return event.name_hash != 0 &&
             (event.kind == EventKind::kMark || event.kind == EventKind::kCounter);
    }
    case StreamId::kDump:
    case StreamId::kNone:
      break;
  }
  return false;
}

struct LaneSeen {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t end = 0;        // one past the last number
  std::uint64_t uncounted = 0;  // without a word of the audit
  std::uint64_t uncounted_number = 0;
  std::uint64_t twice = 0;
  std::uint64_t torn = 0;
  // A frame is found when its fragments came one behind the other from its first byte to its last.
  std::uint64_t frame = 0, next_offset = 0;
  bool begun = false;

  void add(std::uint64_t number) {
    twice += count > 0 && number < end;
    if (count == 0) first = number;
    ++count;
    end = number + 1;
  }
};

class PagesSeen {
 public:
  explicit PagesSeen(const AuditWords& audit) : audit_(audit) {}

  void take(const CapturedPage& page) {
    const std::uint32_t lane = page.header.lane;
    LaneSeen& seen = lanes_[lane];
    if (page.header.record_bytes != 0)
      for_each_record(page.header, page.payload,
                      [&](std::uint64_t number, const unsigned char* record) {
                        take_record(lane, seen, page, number, record);
                      });
    else
      for_each_fragment(page.header, page.payload,
                        [&](const Fragment& fragment) { take_fragment(lane, seen, fragment); });
  }
  LaneSeen& of(std::uint32_t lane) { return lanes_[lane]; }

 private:
  void take_record(std::uint32_t lane, LaneSeen& seen, const CapturedPage& page,
                   std::uint64_t number, const unsigned char* record) {
    const std::uint64_t digest = audit_.slot(lane, number);
    if (digest == 0) {
      note_uncounted(seen, number);
      seen.torn += !is_sane(page.lane.stream, record);
    } else {
      seen.torn += digest != record_digest(record, page.header.record_bytes);
    }
    seen.add(number);
  }

  void take_fragment(std::uint32_t lane, LaneSeen& seen, const Fragment& fragment) {
    if (fragment.first) {
      seen.frame = fragment.frame_number;
      seen.next_offset = 0;
      seen.begun = true;
    }
    seen.begun =
        seen.begun && seen.frame == fragment.frame_number && fragment.offset == seen.next_offset;
    seen.next_offset += fragment.bytes.size();
    if (!fragment.last || !seen.begun) return;
    const std::uint64_t bytes = audit_.slot(lane, fragment.frame_number);
    if (bytes == 0)
      note_uncounted(seen, fragment.frame_number);
    else
      seen.torn += bytes != seen.next_offset || bytes != fragment.total_bytes;
    seen.add(fragment.frame_number);
    seen.begun = false;
  }

  static void note_uncounted(LaneSeen& seen, std::uint64_t number) {
    ++seen.uncounted;
    seen.uncounted_number = number;
  }

  const AuditWords& audit_;
  std::map<std::uint32_t, LaneSeen> lanes_;
};

struct LaneAudit {
  const LaneReport& lane;
  const CapturedLane& captured;
  const LaneSeen& seen;
  const AuditWords& audit;
  std::uint32_t payload_bytes;
  const AuditTerms& terms;
  RunAudit& result;

  template <class... Args>
  void expect(bool holds, fmt::format_string<Args...> text, Args&&... args) const {
    if (!holds)
      result.problems.push_back(
          fmt::format("lane {} ({} of {}): ", lane.lane, lane.stream, lane.producer) +
          fmt::format(text, std::forward<Args>(args)...));
  }

  void run() const {
    const LaneCounts& counts = lane.counts;
    const bool closed = lane.state == "closed" || lane.state == "clean";
    const std::uint64_t accepted = audit.accepted(lane.lane);
    const std::uint64_t said = counts.dropped_by[static_cast<std::size_t>(DropReason::kFileError)];
    const std::uint64_t refused = terms.disk_full ? said : 0;
    // One may be stored whose writer did not come to count it; only a lane that nobody closed.
    const std::uint64_t ahead = counts.produced - counts.dropped + refused - accepted;
    result.accepted += accepted;
    result.found += seen.count;
    result.recovered += counts.recovered;
    result.refused += refused;
    result.twice += seen.twice;
    result.torn += seen.torn;
    result.incomplete += counts.incomplete;
    expect(counts.produced <= kAuditSlots, "{} numbers are more than the audit has room for",
           counts.produced);
    expect(counts.closes(), "the ledger does not close, {} unaccounted", counts.unaccounted());
    expect(seen.count == counts.delivered + counts.recovered,
           "run.json says {} delivered + {} recovered, the file holds {}", counts.delivered,
           counts.recovered, seen.count);
    expect(said == refused, "{} refused by a disk that is not full", said);
    expect(seen.twice == 0, "{} numbers out of order or twice", seen.twice);
    expect(seen.torn == 0, "{} hold something else than was written", seen.torn);
    expect(counts.incomplete <= (closed ? 0 : 1), "{} incomplete on a lane that is {}",
           counts.incomplete, lane.state);
    expect(ahead == 0 || (ahead == 1 && !closed),
           "{} accepted by the audit, {} by the ledger on a lane that is {}", accepted,
           accepted + ahead, lane.state);
    expect(seen.uncounted == 0 ||
               (seen.uncounted == 1 && !closed && seen.uncounted_number + 1 == seen.end),
           "{} found that nobody counted, the lane is {}", seen.uncounted, lane.state);
    if (lane.policy == "keep-last")
      judge_kept(accepted, refused, closed);
    else
      judge_all(accepted, refused, closed);
  }

  void judge_all(std::uint64_t accepted, std::uint64_t refused, bool closed) const {
    const std::uint64_t missing =
        accepted > seen.count + refused ? accepted - seen.count - refused : 0;
    result.lost += missing;
    expect(missing == 0, "{} accepted, {} found, {} refused by the disk", accepted, seen.count,
           refused);
    expect(seen.count + refused <= accepted + !closed, "{} accepted, but {} found", accepted,
           seen.count);
    expect(lane.counts.overwritten == 0, "{} overwritten", lane.counts.overwritten);
  }

  // The newest pages are there, from the oldest that must be. Such a lane refuses nothing.
  void judge_kept(std::uint64_t accepted, std::uint64_t refused, bool closed) const {
    const std::uint64_t produced = std::max(lane.counts.produced, accepted);
    const OldestKept oldest = captured.plan.record_bytes != 0
                                  ? oldest_record(payload_bytes / captured.plan.record_bytes,
                                                  terms.keep_pages, produced, closed)
                                  : oldest_frame(produced, closed);
    const std::uint64_t first = seen.count == 0 ? produced - refused : seen.first;
    result.overwritten += oldest.least;
    result.lost += first > oldest.most ? first - oldest.most : 0;
    expect(first == oldest.least || first == oldest.most,
           "the oldest in the file is {} of {} produced; {} pages keep from {} (or {})", first,
           produced, terms.keep_pages, oldest.least, oldest.most);
    expect(seen.count == 0 || seen.end + refused == produced,
           "the newest in the file is {}, {} produced, {} refused by the disk", seen.end, produced,
           refused);
    expect(seen.end - seen.first == seen.count, "numbers {}..{} are not contiguous", seen.first,
           seen.end);
    expect(lane.counts.dropped == refused, "{} dropped under keep-last", lane.counts.dropped);
  }

  // The producer's words say how many pages it had opened: a frame under way may have turned any
  // number of them. Without an open page it was about to reopen its oldest one.
  [[nodiscard]] OldestKept oldest_frame(std::uint64_t produced, bool closed) const {
    FrameLayout layout;
    const std::uint64_t opened = captured.words.opened_pages;
    for (std::uint64_t frame = 0; frame < produced; ++frame) {
      std::uint64_t bytes = audit.slot(lane.lane, frame);
      // The one that is ahead of the count was written to its end in the pages that were opened.
      if (bytes == 0) bytes = 1;
      layout.add(bytes, payload_bytes);
    }
    expect(closed ? layout.pages == opened : layout.pages <= opened,
           "{} pages opened where the frames need {}", opened, layout.pages);
    const bool turning = !closed && captured.words.open_page_index == ~std::uint64_t{0};
    return {layout.oldest(terms.keep_pages, opened),
            layout.oldest(terms.keep_pages, turning ? opened + 1 : opened)};
  }
};

}  // namespace

RunAudit audit_run(const std::string& directory, const RunReport& report, const AuditWords& audit,
                   const AuditTerms& terms) {
  RunAudit result;
  const auto fail = [&](const std::string& message) {
    result.lost += audit.accepted_in_all();
    result.problems.push_back(message);
    return result;
  };
  if (report.lanes.empty()) {
    if (audit.accepted_in_all() > 0)
      return fail("run.json has no lanes, but records were accepted");
    return result;
  }
  const std::string path = directory + "/" + kCaptureFile;
  auto reader = CaptureReader::open(path, CaptureReader::Open::kScan);
  if (!reader) return fail(reader.error().message);
  const auto description = read_description(*reader);
  if (!description) return fail(description.error().message);
  PagesSeen seen(audit);
  auto ledger = read_ledger(*reader, description->lanes, description->page_bytes,
                            [&](const CapturedPage& page) { seen.take(page); });
  if (!ledger) return fail(ledger.error().message);
  result.twice += ledger->duplicate_pages;
  if (ledger->duplicate_pages + ledger->unreadable_pages + ledger->faults.total() > 0)
    result.problems.push_back(fmt::format("{} pages twice, {} unreadable, {} unbelievable",
                                          ledger->duplicate_pages, ledger->unreadable_pages,
                                          ledger->faults.total()));
  for (const LaneReport& lane : report.lanes) {
    if (lane.lane >= ledger->lanes.size())
      return fail(fmt::format("lane {} is unknown", lane.lane));
    LaneAudit{.lane = lane,
              .captured = ledger->lanes[lane.lane],
              .seen = seen.of(lane.lane),
              .audit = audit,
              .payload_bytes = description->page_bytes - 128,
              .terms = terms,
              .result = result}
        .run();
  }
  // Lanes that run.json does not name.
  if (result.accepted != audit.accepted_in_all())
    result.problems.push_back(fmt::format("{} accepted in all, {} of them on lanes of run.json",
                                          audit.accepted_in_all(), result.accepted));
  return result;
}

}  // namespace tidemark
