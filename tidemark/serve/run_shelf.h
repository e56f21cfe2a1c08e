// SPDX-License-Identifier: Apache-2.0
// The runs that a server shows, and the two threads that make their tiles: one for sketches, so
// that a new run has an answer at once, one for all else. Both give way to whatever else runs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tidemark/serve/run_list.h"

namespace tidemark {

class RunShelf {
 public:
  struct Options {
    std::vector<std::string> runs;  // shown from the beginning
    std::string folder;             // and all runs in here; empty: no others
    std::string cache_folder;
    TileMaking making;
  };
  explicit RunShelf(Options options);
  RunShelf(const RunShelf&) = delete;
  RunShelf& operator=(const RunShelf&) = delete;
  ~RunShelf();

  // Any thread. Null: no such run.
  std::shared_ptr<TileStore> find(const std::string& key);
  std::string list_json();

 private:
  struct Shown {
    std::shared_ptr<ServedRun> run;
    std::uint64_t asked_ns = 0;
    bool stays = false;
  };
  std::shared_ptr<ServedRun> show(const std::string& directory, bool stays);
  void forget_oldest();
  void list_again();  // unless it was a moment ago
  std::vector<std::shared_ptr<ServedRun>> shown();
  void work(const std::stop_token& stop, ServedRun::Step kind);

  const Options options_;
  std::mutex mutex_;
  std::map<std::string, Shown> shown_;  // by key
  std::mutex list_mutex_;               // of the three below
  RunList list_;
  std::string list_text_;
  std::uint64_t listed_ns_ = 0;
  std::jthread sketches_, tiles_;  // last: they use all of the above
};

}  // namespace tidemark
