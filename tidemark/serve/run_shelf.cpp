// SPDX-License-Identifier: Apache-2.0
#include "tidemark/serve/run_shelf.h"

#include <sys/resource.h>

#include <algorithm>

#include "tidemark/base/monotonic_clock.h"

namespace tidemark {
namespace {

constexpr std::size_t kShownMax = 8;  // runs whose tiles are kept, beside those named at the start
constexpr std::uint64_t kListAgeNs = 1'000'000'000;
constexpr std::uint64_t kLookMs = 20;
constexpr int kNice = 10;

}  // namespace

RunShelf::RunShelf(Options options) : options_(std::move(options)), list_(options_.folder) {
  for (const auto& run : options_.runs) show(run, true);
  sketches_ =
      std::jthread([this](const std::stop_token& stop) { work(stop, ServedRun::Step::kSketch); });
  tiles_ =
      std::jthread([this](const std::stop_token& stop) { work(stop, ServedRun::Step::kTiles); });
}

RunShelf::~RunShelf() {
  sketches_.request_stop();
  tiles_.request_stop();
  for (const auto& run : shown()) run->stop();
}

std::shared_ptr<ServedRun> RunShelf::show(const std::string& directory, bool stays) {
  Shown& one = shown_[run_key(directory)];
  if (one.run == nullptr)
    one.run = std::make_shared<ServedRun>(ServedRun::Options{
        .directory = directory, .cache_folder = options_.cache_folder, .making = &options_.making});
  one.stays |= stays;
  one.asked_ns = monotonic_ns();
  return one.run;
}

std::shared_ptr<TileStore> RunShelf::find(const std::string& key) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = shown_.find(key); found != shown_.end()) {
      found->second.asked_ns = monotonic_ns();
      return found->second.run;
    }
  }
  if (options_.folder.empty()) return nullptr;
  std::string directory;
  {
    const std::lock_guard lock(list_mutex_);
    if (!list_.by_key().contains(key)) list_again();
    const auto listed = list_.by_key().find(key);
    if (listed == list_.by_key().end()) return nullptr;
    directory = listed->second;
  }
  const std::lock_guard lock(mutex_);
  forget_oldest();
  return show(directory, false);
}

void RunShelf::forget_oldest() {
  const auto goes = [](const auto& one) { return !one.second.stays; };
  if (std::ranges::count_if(shown_, goes) < static_cast<std::ptrdiff_t>(kShownMax)) return;
  auto oldest = shown_.end();
  for (auto at = shown_.begin(); at != shown_.end(); ++at)
    if (goes(*at) && (oldest == shown_.end() || at->second.asked_ns < oldest->second.asked_ns))
      oldest = at;
  oldest->second.run->stop();
  shown_.erase(oldest);
}

std::string RunShelf::list_json() {
  const std::lock_guard lock(list_mutex_);
  list_again();
  return list_text_;
}

void RunShelf::list_again() {
  if (!list_text_.empty() && monotonic_ns() - listed_ns_ < kListAgeNs) return;
  list_text_ = list_.json();
  listed_ns_ = monotonic_ns();
}

std::vector<std::shared_ptr<ServedRun>> RunShelf::shown() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<ServedRun>> runs;
  for (const auto& [key, one] : shown_) runs.push_back(one.run);
  return runs;
}

void RunShelf::work(const std::stop_token& stop, ServedRun::Step kind) {
  ::setpriority(PRIO_PROCESS, 0, kNice);  // of this thread alone
  while (!stop.stop_requested()) {
    bool idle = true;
    for (const auto& run : shown()) {
      if (stop.stop_requested()) return;
      if (run->wants(kind, monotonic_ns())) {
        run->take(kind);
        idle = false;
      }
    }
    if (idle) sleep_ms(kLookMs);
  }
}

}  // namespace tidemark
