// SPDX-License-Identifier: Apache-2.0
#include "tests/accepted_audit.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "tests/oldest_kept.h"
#include "tidemark/base/align.h"
#include "tidemark/capture/capture_ledger.h"
#include "tidemark/ledger/page_content.h"
#include "tidemark/run/description.h"
#include "tidemark/run/output_directory.h"
#include "workloads/synthetic_content.h"

namespace tidemark {
namespace {

// A frame is found when its fragments came one behind the other from its first byte to its last.
struct FrameUnderWay {
  std::uint64_t number = 0;
  std::uint64_t next_offset = 0;
  bool begun = false;
};

class FoundReader {
 public:
  FoundReader(const KillCase& the_case, CaptureFound& found)
      : case_(the_case), found_(found), under_way_(the_case.lanes) {}

  void take(const CapturedPage& page) {
    const std::uint32_t lane = page.lane.unit;
    if (lane >= case_.lanes) return;  // the driver's events
    if (page.lane.stream == StreamId::kSwimlane)
      for_each_record(page.header, page.payload,
                      [&](std::uint64_t number, const unsigned char* record) {
                        add(found_.lanes[lane], number,
                            verify_synthetic_span(lane, number, case_.record_bytes, record));
                      });
    else
      for_each_fragment(page.header, page.payload,
                        [&](const Fragment& fragment) { take_fragment(lane, fragment); });
  }

 private:
  static void add(LaneFound& found, std::uint64_t number, bool holds) {
    found.out_of_order += found.count > 0 && number < found.end;
    found.false_content += !holds;
    if (found.count == 0) found.first = number;
    ++found.count;
    found.end = number + 1;
    found.digest = mix(found.digest ^ (number + 1) * 0x9E3779B97F4A7C15ull);
  }

  void take_fragment(std::uint32_t lane, const Fragment& fragment) {
    FrameUnderWay& frame = under_way_[lane];
    LaneFound& found = found_.lanes[case_.lanes + lane];
    const std::uint64_t number = fragment.frame_number;
    if (fragment.total_bytes != synthetic_frame_bytes(lane, number, case_.frame_bytes) ||
        !verify_synthetic_bytes(lane, number, fragment.offset, fragment.bytes))
      ++found.false_content;
    if (fragment.first) frame = {.number = number, .next_offset = 0, .begun = true};
    frame.begun &= number == frame.number && fragment.offset == frame.next_offset;
    frame.next_offset += fragment.bytes.size();
    if (!fragment.last || !frame.begun) return;
    add(found, number, frame.next_offset == fragment.total_bytes);
    frame.begun = false;
  }

  const KillCase& case_;
  CaptureFound& found_;
  std::vector<FrameUnderWay> under_way_;
};

void check_file(CaptureReader& reader, const std::string& path, Problems& problems) {
  for (const auto& damage : reader.damage())
    problems.push_back(
        fmt::format("capture: {} bytes at {}: {}", damage.bytes, damage.offset, damage.what));
  const auto indexed = CaptureReader::open(path);
  if (!indexed || !indexed->used_index())
    problems.push_back("capture: it has no usable index");
  else if (indexed->chunks().size() != reader.chunks().size())
    problems.push_back(fmt::format("capture: the index knows {} chunks, a scan finds {}",
                                   indexed->chunks().size(), reader.chunks().size()));
}

// The frame after the last whole one may have turned any number of pages before the kill.
OldestKept oldest_frame(const KillCase& the_case, std::uint32_t lane, std::uint64_t produced,
                        bool closed) {
  FrameLayout layout;
  const auto add = [&](std::uint64_t frame) {
    layout.add(synthetic_frame_bytes(lane, frame, the_case.frame_bytes), the_case.payload_bytes());
  };
  for (std::uint64_t frame = 0; frame < produced; ++frame) add(frame);
  const std::uint64_t least = layout.oldest(the_case.keep_pages, layout.pages);
  if (closed) return {least, least};
  add(produced);
  return {least, std::min(produced, layout.oldest(the_case.keep_pages, layout.pages))};
}

// One lane: what was accepted, what run.json says, what is in the file.
struct LaneAudit {
  const KillCase& the_case;
  bool frames = false;
  std::uint32_t lane = 0;
  Overflow policy = Overflow::kWait;
  std::uint64_t accepted = 0;
  const LaneReport& report;
  const LaneFound& found;
  Problems& problems;

  template <class... Args>
  void expect(bool holds, fmt::format_string<Args...> text, Args&&... args) const {
    if (!holds)
      problems.push_back(fmt::format("{}: ", report.producer) +
                         fmt::format(text, std::forward<Args>(args)...));
  }

  void run() const {
    const LaneCounts& counts = report.counts;
    const bool closed = report.state == "closed" || report.state == "clean";
    expect(counts.closes(), "the ledger does not close, {} unaccounted", counts.unaccounted());
    expect(found.false_content == 0, "{} records or fragments hold something else than written",
           found.false_content);
    expect(found.out_of_order == 0, "{} numbers out of order or twice", found.out_of_order);
    expect(found.count == counts.delivered + counts.recovered,
           "run.json says {} delivered + {} recovered, the file holds {}", counts.delivered,
           counts.recovered, found.count);
    expect(counts.incomplete <= 1, "{} incomplete, one producer has at most one",
           counts.incomplete);
    const std::uint64_t kept = counts.produced - counts.dropped;
    expect(kept == accepted || (!closed && kept == accepted + 1),
           "{} accepted by the producers' count, {} by the ledger (lane {})", accepted, kept,
           report.state);
    if (policy == Overflow::kKeepLast)
      check_newest(closed);
    else
      check_all(counts, closed);
  }

  void check_all(const LaneCounts& counts, bool closed) const {
    expect(found.count == accepted || (!closed && found.count == accepted + 1),
           "{} accepted by the producers' count, the file holds {} (lane {})", accepted,
           found.count, report.state);
    expect(counts.overwritten == 0, "{} overwritten", counts.overwritten);
    expect(found.end <= counts.produced, "number {} in the file, {} produced", found.end,
           counts.produced);
    if (counts.dropped == 0)
      expect(found.first == 0 && found.end == found.count, "numbers {}..{} are not contiguous",
             found.first, found.end);
    if (policy != Overflow::kWait) return;
    const auto gone = counts.dropped_by[static_cast<std::size_t>(DropReason::kHostGone)];
    expect(counts.dropped == (the_case.mode == KillMode::kDevice ? 0 : gone),
           "{} dropped under wait, {} of them because the host was gone", counts.dropped, gone);
  }

  void check_newest(bool closed) const {
    const std::uint64_t produced = report.counts.produced;
    expect(report.counts.dropped == 0, "{} dropped under keep-last", report.counts.dropped);
    expect(found.end - found.first == found.count, "numbers {}..{} are not contiguous", found.first,
           found.end);
    expect(found.count == 0 || found.end == produced, "the newest in the file is {}, {} produced",
           found.end, produced);
    const std::uint64_t first = found.count == 0 ? produced : found.first;
    const OldestKept oldest = frames
                                  ? oldest_frame(the_case, lane, produced, closed)
                                  : oldest_record(the_case.payload_bytes() / the_case.record_bytes,
                                                  the_case.keep_pages, produced, closed);
    expect(first >= oldest.least && first <= oldest.most &&
               (frames || first == oldest.least || first == oldest.most),
           "the oldest in the file is {} of {} produced; {} pages keep from {} (or {})", first,
           produced, the_case.keep_pages, oldest.least, oldest.most);
  }
};

}  // namespace

CaptureFound read_found(const KillCase& the_case, const std::string& directory,
                        Problems& problems) {
  CaptureFound found;
  found.lanes.resize(the_case.lanes * 2);
  const std::string path = directory + "/" + kCaptureFile;
  if (!std::filesystem::exists(path)) return found;
  auto reader = CaptureReader::open(path, CaptureReader::Open::kScan);
  if (!reader) {
    problems.push_back(reader.error().message);
    return found;
  }
  check_file(*reader, path, problems);
  const auto description = read_description(*reader);
  if (!description) {
    problems.push_back(description.error().message);
    return found;
  }
  FoundReader pages(the_case, found);
  const auto ledger = read_ledger(*reader, description->lanes, description->page_bytes,
                                  [&](const CapturedPage& page) { pages.take(page); });
  if (!ledger)
    problems.push_back(ledger.error().message);
  else if (ledger->duplicate_pages + ledger->unreadable_pages + ledger->faults.total() > 0)
    problems.push_back(fmt::format("capture: {} pages twice, {} unreadable, {} unbelievable",
                                   ledger->duplicate_pages, ledger->unreadable_pages,
                                   ledger->faults.total()));
  return found;
}

void audit_accepted(const KillCase& the_case, const CaptureFound& found, const RunReport& report,
                    std::span<const std::uint64_t> accepted, Problems& problems) {
  const std::uint32_t lane_count = the_case.lanes * (the_case.frame_bytes > 0 ? 2 : 1);
  if (report.lanes.empty()) {  // killed before there was a region
    const bool nothing =
        std::all_of(accepted.begin(), accepted.end(), [](std::uint64_t n) { return n == 0; }) &&
        std::all_of(found.lanes.begin(), found.lanes.end(),
                    [](const LaneFound& lane) { return lane.count == 0; });
    if (!nothing) problems.push_back("run.json has no lanes, but records were accepted or found");
    return;
  }
  if (report.lanes.size() != lane_count + 1)
    problems.push_back(
        fmt::format("run.json has {} lanes, the run has {}", report.lanes.size(), lane_count + 1));
  for (const auto& lane : report.lanes) {
    if (lane.lane >= lane_count) {
      if (!lane.counts.closes() || lane.counts.produced > 2)
        problems.push_back("the events' ledger does not close");
      continue;
    }
    const bool frames = lane.lane >= the_case.lanes;
    const std::uint32_t producer = lane.lane % the_case.lanes;
    LaneAudit{.the_case = the_case,
              .frames = frames,
              .lane = producer,
              .policy = frames ? the_case.frame_policy : the_case.record_policy,
              .accepted = accepted[producer * 2 + frames],
              .report = lane,
              .found = found.lanes[lane.lane],
              .problems = problems}
        .run();
  }
}

void audit_same(const CaptureFound& found, const RunReport& report, const CaptureFound& other_found,
                const RunReport& other_report, Problems& problems) {
  if (found.lanes != other_found.lanes)
    problems.push_back("an interrupted recovery left other records than one that ran through");
  if (report.lanes.size() != other_report.lanes.size()) {
    problems.push_back("an interrupted recovery reports other lanes than one that ran through");
    return;
  }
  for (std::size_t i = 0; i < report.lanes.size(); ++i) {
    const LaneCounts& a = report.lanes[i].counts;
    const LaneCounts& b = other_report.lanes[i].counts;
    if (a.produced != b.produced || a.delivered != b.delivered || a.recovered != b.recovered ||
        a.dropped != b.dropped || a.overwritten != b.overwritten || a.incomplete != b.incomplete ||
        report.lanes[i].state != other_report.lanes[i].state)
      problems.push_back(fmt::format(
          "{}: interrupted {} = {} + {} recovered + {} dropped, run through {} = {} + {} + {}",
          report.lanes[i].producer, a.produced, a.delivered, a.recovered, a.dropped, b.produced,
          b.delivered, b.recovered, b.dropped));
  }
}

}  // namespace tidemark
