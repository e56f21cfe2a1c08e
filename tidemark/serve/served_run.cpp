// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/served_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/run/output_directory.h"
#include "tidemark/run/run_owner.h"
#include "tidemark/serve/bare_index.h"

namespace tidemark {
namespace {

constexpr std::size_t kGenerationsKept = 2;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::chrono::milliseconds kFirstPatience{300};
constexpr std::uint64_t kAskedNs = 10 * kSecondNs;  // nobody looks any more
// A making may take this part of the time: a run that is watched must not feel it.
constexpr std::uint64_t kPauseFactor = 4;
// A capture that is read in a moment needs no sketch.
constexpr std::uint64_t kSketchBytes = 16ull << 20;

RunFiles::File look_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {.inode = info.st_ino,
          .bytes = static_cast<std::uint64_t>(info.st_size),
          .changed_ns = static_cast<std::uint64_t>(info.st_mtim.tv_sec) * kSecondNs +
                        static_cast<std::uint64_t>(info.st_mtim.tv_nsec)};
}

// "g7/t/0/0/3": the generation and what is behind it.
bool split_generation(std::string_view& name, std::uint64_t& number) {
  if (!name.starts_with('g')) return false;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + 1, end, number);
  if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != '/') return false;
  name.remove_prefix(static_cast<std::size_t>(parsed.ptr - name.data()) + 1);
  return true;
}

}  // namespace

bool is_going_on(const RunReport& report) {
  if (report.status != RunStatus::kRunning) return false;
  const HostIs host = look_for_host(report, false);
  return host == HostIs::kAlive || host == HostIs::kUnknown;
}

RunFiles RunFiles::look(const std::string& directory) {
  return {look_at(directory + "/" + kCaptureFile), look_at(directory + "/run.json")};
}

Reply ServedRun::answer(std::string_view name, const std::string& if_none_match) {
  if (name == "index.json") return answer_index(if_none_match);
  std::uint64_t number = 0;
  const bool of_generation = split_generation(name, number);
  std::shared_ptr<const Generation> found;
  {
    const std::lock_guard lock(mutex_);
    if (generations_.empty()) return refusal_reply(404);
    found = generations_.back();
    if (of_generation && number < generations_.front()->number) return refusal_reply(410);
    const auto it =
        std::ranges::find(generations_, number, [](const auto& one) { return one->number; });
    if (of_generation && it == generations_.end()) return refusal_reply(404);
    if (of_generation) found = *it;
  }
  auto bytes = found->tiles->read(name);
  if (!bytes)
    return {.status = 500, .type = "text/plain; charset=utf-8", .body = bytes.error().message};
  if (!*bytes) return refusal_reply(404);
  return {.type = "application/octet-stream",
          .body = std::move(**bytes),
          .keep = of_generation ? Reply::Keep::kForever : Reply::Keep::kNot};
}

Reply ServedRun::answer_index(const std::string& if_none_match) {
  std::unique_lock lock(mutex_);
  asked_ns_ = monotonic_ns();
  // Of a run that is looked at for the first time something is there in a moment.
  first_.wait_for(lock, kFirstPatience, [&] { return !generations_.empty() || !error_.empty(); });
  if (generations_.empty())
    return json_reply(to_json(BareIndex{.report = report_ ? &*report_ : nullptr,
                                        .live = live_,
                                        .pending = error_.empty() ? "reading the capture" : "",
                                        .error = error_}));
  const Generation& newest = *generations_.back();
  const std::uint64_t done = progress_.records_done, records = progress_.records;
  const bool making = busy_ && records > 0;
  // Who looks on until it has ended must see its end: it is live until that has been made, or
  // cannot.
  const bool live = newest.live && (live_ || error_.empty());
  const std::string etag =
      fmt::format("\"{}-{}-{}\"", newest.number, live ? 1 : 0, making ? done : 0);
  if (if_none_match == etag) return {.status = 304, .etag = etag};
  std::string text = fmt::format(R"({{"generation":{},"live":{},"blobs":"g{}/",)", newest.number,
                                 live, newest.number);
  if (making) text += fmt::format(R"("making":{{"records_done":{},"records":{}}},)", done, records);
  Reply reply = json_reply(text + newest.index);
  reply.etag = etag;
  return reply;
}

bool ServedRun::wants(Step step, std::uint64_t now_ns) {
  {
    const std::lock_guard lock(mutex_);
    if (busy_ || now_ns < next_ns_) return false;
    if (asked_ns_ == 0 || asked_ns_ + kAskedNs < now_ns) return false;
    if (!sketched_ || step == Step::kSketch) return !sketched_ && step == Step::kSketch;
    if (!tiled_ || live_) return true;
  }
  const RunFiles now = RunFiles::look(options_.directory);
  const std::lock_guard lock(mutex_);
  next_ns_ = now_ns + kSecondNs;
  return now != made_of_;
}

void ServedRun::take(Step step) {
  const std::uint64_t begin_ns = monotonic_ns();
  {
    const std::lock_guard lock(mutex_);
    busy_ = true;
  }
  const RunFiles files = RunFiles::look(options_.directory);
  const auto report = read_run_report(options_.directory);
  const bool live = report && is_going_on(*report);
  {
    const std::lock_guard lock(mutex_);
    live_ = live;
    if (report) report_ = *report;
  }
  const auto made = report ? make(step, live) : Expected<void>(tl::unexpected(report.error()));
  const std::uint64_t end_ns = monotonic_ns();
  const std::lock_guard lock(mutex_);
  busy_ = false;
  progress_.records_done = progress_.records = 0;
  sketched_ = true;
  if (step == Step::kSketch) return;  // what it could not read the tiles cannot, and say so
  // What is shown already stays: a writer that ends may be in the way of one look.
  error_ = made ? "" : made.error().message;
  first_.notify_all();
  tiled_ = true;
  made_of_ = files;
  next_ns_ = end_ns + std::max(kSecondNs, live ? kPauseFactor * (end_ns - begin_ns) : 0);
}

Expected<void> ServedRun::make(Step step, bool live) {
  if (step == Step::kSketch &&
      look_at(options_.directory + "/" + kCaptureFile).bytes < kSketchBytes)
    return {};
  TM_TRY(auto run, RunCapture::open(options_.directory, live ? CaptureReader::Open::kLive
                                                             : CaptureReader::Open::kIndexed));
  {
    const std::lock_guard lock(mutex_);
    // Nothing was added since.
    if (live && tiled_ && run.chunk_count() == made_of_chunks_) return {};
  }
  progress_.is_aside = live;
  TM_TRY(auto tiles, TilePack::create(options_.cache_folder));
  TM_TRY_DO(step == Step::kSketch ? options_.making->sketch(run, *tiles)
                                  : options_.making->whole(run, *tiles, progress_));
  TM_TRY_DO(tiles->finish());
  const std::size_t chunks = run.chunk_count();
  TM_TRY_DO(publish(std::move(tiles), live));
  const std::lock_guard lock(mutex_);
  if (step == Step::kTiles) made_of_chunks_ = chunks;
  return {};
}

Expected<void> ServedRun::publish(std::unique_ptr<TilePack> tiles, bool live) {
  TM_TRY(const auto index, tiles->read("index.json"));
  if (!index || !index->starts_with('{') || index->size() < 3)
    return failure(ErrorKind::kDamage, "{}: its tile set has no index", options_.directory);
  auto made = std::make_shared<Generation>();
  made->live = live;
  made->tiles = std::move(tiles);
  made->index = index->substr(1);
  const std::lock_guard lock(mutex_);
  made->number = generations_.empty() ? 1 : generations_.back()->number + 1;
  generations_.push_back(std::move(made));
  first_.notify_all();
  if (generations_.size() > kGenerationsKept) generations_.pop_front();
  return {};
}

}  // namespace tidemark
