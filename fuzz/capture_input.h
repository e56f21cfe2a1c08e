// SPDX-License-Identifier: Apache-2.0
// One fuzzer input as a capture file: opened both ways, every chunk read, described, counted,
// checked, analyzed, compared and exported. Whatever the bytes say, nothing may crash, and what an
// index or a scan returns must be what its checksum says, and what the commands print of it must be
// plain text. Called by capture_fuzz.cpp and tests/hostile_capture_test.cpp.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tidemark/analyze/check_run.h"
#include "tidemark/analyze/critical_path.h"
#include "tidemark/analyze/dump_diff.h"
#include "tidemark/analyze/hang_report.h"
#include "tidemark/analyze/scope_report.h"
#include "tidemark/base/testing/plain_output.h"
#include "tidemark/cli/command_line.h"
#include "tidemark/cli/dump_files.h"
#include "tidemark/cli/terminal.h"
#include "tidemark/export/artifact.h"
#include "tidemark/export/export_run.h"
#include "tidemark/session/testing/sample_run.h"
#include "tidemark/tiles/documents.h"
#include "tidemark/tiles/testing/kept_documents.h"
#include "tidemark/tiles/testing/sound_tiles.h"
#include "tidemark/tiles/tile_set.h"

namespace tidemark::fuzz {

// A run directory whose capture is whatever the last input was. The capture is an anonymous file,
// found through a link.
class InputDirectory {
 public:
  InputDirectory() : fd_(::memfd_create("capture", MFD_CLOEXEC)) {
    TM_CHECK(fd_.valid());
    std::filesystem::create_symlink(fmt::format("/proc/self/fd/{}", fd_.get()),
                                    directory_.file("capture.tide"));
    RunReport report = samples::sample_report();
    report.lanes.push_back({.lane = 0, .stream = "swimlane", .producer = "worker 0"});
    TM_CHECK(write_run_report(directory_.path(), report));
  }

  void put(std::span<const unsigned char> bytes) {
    TM_CHECK(::ftruncate(fd_.get(), 0) == 0);
    TM_CHECK(::pwrite(fd_.get(), bytes.data(), bytes.size(), 0) ==
             static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }

 private:
  samples::TemporaryDirectory directory_{"/dev/shm"};
  UniqueFd fd_;
};

struct CaptureInputResult {
  bool opened = false;  // by a scan
  bool described = false;
  std::uint64_t chunks = 0;
  std::uint64_t pages = 0;
  std::uint64_t records = 0;
  std::uint64_t arguments = 0;  // dumped, with all the bytes they say they have
  std::uint64_t hangs = 0;
  std::string printed;
};

inline void read_everything(CaptureReader& reader, CaptureInputResult& result) {
  for (const auto& chunk : reader.chunks()) {
    const auto bytes = reader.read(chunk);
    if (!bytes) continue;
    ++result.chunks;
    TM_CHECK(bytes->size() == chunk.payload_bytes);
    TM_CHECK(checksum(bytes->data(), bytes->size()) == chunk.payload_checksum);
  }
  const RunClock clock = read_clock(reader);
  TM_CHECK(clock.ticks_per_second != 0);
  (void)read_names(reader);
  const auto description = read_description(reader);
  if (!description) return;
  result.described = true;
  (void)describe_capture(*description);
  auto ledger = read_ledger(reader, description->lanes, description->page_bytes,
                            [&](const CapturedPage& page) {
                              TM_CHECK(page.payload.size() == page.header.used_bytes);
                              const PageCounts counts = count_page(page.header, page.payload);
                              result.records += counts.whole;
                              TM_CHECK(counts.used_bytes <= page.payload.size());
                            });
  if (!ledger) return;
  result.pages += ledger->keys.size();
  finish_lanes(*ledger);
  RunReport report;
  for (LaneIndex lane = 0; lane < ledger->lanes.size(); ++lane) {
    const CapturedLane& captured = ledger->lanes[lane];
    report.lanes.push_back(
        report_lane(lane, captured.plan, captured.words, captured.ledger.counts()));
  }
  (void)to_json(report);
}

// Dumped arguments: their bytes, as text, and beside those of the same run.
inline void read_arguments(RunCapture& run, CaptureInputResult& result) {
  const auto index = read_dump(run);
  if (!index) return;
  for (const DumpEntry& entry : index->entries) {
    const auto bytes = load_payload(run, entry);
    if (!bytes) continue;
    TM_CHECK(bytes->size() == entry.header.payload_bytes);
    TM_CHECK(bytes->size() <= entry.header.logical_bytes);
    ++result.arguments;
    if (bytes->size() <= 1024) (void)cli::dump_text(run, entry);
  }
  (void)tasks_in_order(run, *index);
  auto other = RunCapture::open(run.directory());
  if (!other) return;
  const auto diff = diff_dumps(run, *other, {});
  TM_CHECK(!diff || diff->compared <= index->entries.size());
}

inline void read_hang(RunCapture& run, CaptureInputResult& result) {
  const auto state = run.hang();
  if (!state) return;
  ++result.hangs;
  TM_CHECK(first_order_in(hang_summary(make_hang_report(*state, &run), run.directory())).empty());
}

inline void make_tiles(RunCapture& run) {
  samples::SoundTiles sketch, whole;
  TM_CHECK(sketch_tile_set(run, sketch).has_value() == sketch.has_index());
  TM_CHECK(make_tile_set(run, {}, whole).has_value() == whole.has_index());
}

// What the viewer's page reads: whatever the capture says, it is JSON and of bounded size.
inline void read_documents(RunCapture& run) {
  const auto tracks = list_tracks(run);
  if (!tracks) return;
  samples::KeptDocuments tiles;
  const auto list = make_documents(run, *tracks, {.payload_bytes = 1 << 20}, tiles);
  if (!list) return;
  for (const std::string& name : tiles.names())
    if (name.starts_with("payload/"))
      TM_CHECK(tiles.bytes(name).size() <= 1 << 20);
    else
      TM_CHECK(tiles.json(name).IsObject());
}

// Every question that can be asked of a capture; the answers may be wrong, never fatal.
inline void analyze_everything(const std::string& directory, CaptureInputResult& result) {
  for (const auto& artifact : artifacts())
    (void)export_files(directory, {std::string(artifact.file)});
  auto run = RunCapture::open(directory);
  if (!run) return;
  read_arguments(*run, result);
  read_hang(*run, result);
  make_tiles(*run);
  read_documents(*run);
  (void)read_timeline(*run);
  (void)report_scopes(*run);
  const auto graph = TaskGraph::load(*run);
  if (!graph) return;
  (void)graph->reduced();
  if (!graph->tasks.empty())
    (void)graph->path(graph->tasks.front().task.task_id, graph->tasks.back().task.task_id);
  const GraphTimes times = join_times(*run, *graph);
  if (!run->runtime()) return;
  (void)find_critical_path(*run->runtime(), run->clock(), *graph, times);
  (void)find_starvation(*run->runtime(), run->clock(), *graph, times);
}

// What people type; RUN is the directory.
inline constexpr const char* kTextCommands[] = {"check RUN",
                                                "swimlane RUN",
                                                "swimlane RUN --perfetto RUN/t.pftrace",
                                                "scopes RUN",
                                                "deps RUN --list",
                                                "deps RUN --reduce",
                                                "deps RUN --dot -",
                                                "deps RUN --why t1",
                                                "deps RUN --path t0 r1t3",
                                                "dump RUN --stats",
                                                "dump RUN --nan",
                                                "dump RUN --index 0",
                                                "dump RUN --export RUN --format npy",
                                                "dump RUN --export RUN --format csv",
                                                "dump RUN --export RUN --format txt",
                                                "dump diff RUN RUN",
                                                "replay RUN --task t0",
                                                "hang RUN",
                                                "hang RUN --json",
                                                "top RUN --once"};

// Returns the exit code.
inline int run_command(const std::string& command, const std::string& directory) {
  std::vector<std::string> words{"tidemark"};
  std::istringstream stream(command);
  for (std::string word; stream >> word;) {
    if (const auto at = word.find("RUN"); at != std::string::npos) word.replace(at, 3, directory);
    words.push_back(word);
  }
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return cli::run_arguments(static_cast<int>(argv.size()), argv.data());
}

// What people see of it, by `count` of the commands from one on.
inline std::string print_input(const std::string& directory, std::uint64_t from,
                               std::size_t count) {
  std::string text;
  const cli::PrintedText sink(text);
  for (std::size_t i = 0; i < count; ++i) {
    const int exit_code =
        run_command(kTextCommands[(from + i) % std::size(kTextCommands)], directory);
    TM_CHECK(exit_code >= 0 && exit_code <= 5);
  }
  return text;
}

// The same input always goes to the same commands.
inline CaptureInputResult run_capture_input(std::span<const unsigned char> bytes,
                                            std::size_t commands = 3) {
  static InputDirectory directory;
  directory.put(bytes);
  const std::string path = directory.path() + "/capture.tide";
  CaptureInputResult result;
  for (const auto how : {CaptureReader::Open::kIndexed, CaptureReader::Open::kScan}) {
    auto reader = CaptureReader::open(path, how);
    if (!reader) continue;
    result = {};
    result.opened = how == CaptureReader::Open::kScan;
    read_everything(*reader, result);
  }
  (void)check_run(directory.path(), {});
  analyze_everything(directory.path(), result);
  result.printed = print_input(directory.path(), checksum(bytes.data(), bytes.size()), commands);
  TM_CHECK(first_order_in(result.printed).empty());
  (void)parse_run_report(std::string(bytes.begin(), bytes.end()), "run.json");
  return result;
}

}  // namespace tidemark::fuzz
