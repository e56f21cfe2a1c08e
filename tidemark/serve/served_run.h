// SPDX-License-Identifier: Apache-2.0
// One run as `serve` shows it: its tile set, made by threads of the server while requests are
// answered with what is there. A run that grows gets a new generation of tiles; the generation
// before is kept for those who are reading it.
//
//   nothing yet ──▶ sketch ──▶ tiles ──▶ tiles of more of the run ──▶ … ──▶ tiles of all of it
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "tidemark/serve/tile_making.h"
#include "tidemark/serve/tile_pack.h"
#include "tidemark/serve/tile_store.h"

namespace tidemark {

// What a run directory looks like from outside: as long as it does, nothing has changed in it.
struct RunFiles {
  struct File {
    std::uint64_t inode = 0, bytes = 0, changed_ns = 0;
    bool operator==(const File&) const = default;
  };
  File capture, report;
  bool operator==(const RunFiles&) const = default;

  static RunFiles look(const std::string& directory);
};

class ServedRun : public TileStore {
 public:
  struct Options {
    std::string directory;
    std::string cache_folder;
    const TileMaking* making = nullptr;
  };
  explicit ServedRun(Options options) : options_(std::move(options)) {}

  Reply answer(std::string_view name, const std::string& if_none_match) override;

  // One thread for each kind asks whether it is to be done now, and does it.
  enum class Step { kSketch, kTiles };
  bool wants(Step step, std::uint64_t now_ns);
  void take(Step step);
  // A making that goes on is to end: the server ends.
  void stop() { progress_.stops = true; }

 private:
  struct Generation {
    std::uint64_t number = 0;
    bool live = false;  // more may come
    std::unique_ptr<TilePack> tiles;
    std::string index;  // index.json without its opening brace
  };

  Reply answer_index(const std::string& if_none_match);
  Expected<void> make(Step step, bool live);
  Expected<void> publish(std::unique_ptr<TilePack> tiles, bool live);

  const Options options_;
  MakingProgress progress_;

  std::mutex mutex_;                                           // of all below
  std::condition_variable first_;                              // something is there to show
  std::deque<std::shared_ptr<const Generation>> generations_;  // newest last
  std::optional<RunReport> report_;
  std::string error_;  // why there are no tiles
  bool live_ = true;   // not known to have ended
  bool busy_ = false;
  bool sketched_ = false;
  bool tiled_ = false;
  RunFiles made_of_;
  std::size_t made_of_chunks_ = 0;
  std::uint64_t asked_ns_ = 0;  // when somebody last asked for index.json
  std::uint64_t next_ns_ = 0;   // not made again before
};

// Of a run that is going on: its process lives, as far as anybody can know here.
bool is_going_on(const RunReport& report);

}  // namespace tidemark
