// SPDX-License-Identifier: Apache-2.0
// Compresses blobs and gives them to a sink, in the order in which they came, whatever the number
// of threads. The bytes are those that one thread would make.
//
//   put ──▶ a ring of blobs: waiting ▶ being compressed ▶ done ──▶ sink
//
// With one thread all of it is done by whoever calls put. With more the others compress; where the
// ring is full, whoever calls put compresses one, too, instead of waiting.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tidemark/tiles/raw_deflate.h"
#include "tidemark/tiles/tile_codec.h"
#include "tidemark/tiles/tile_sink.h"
#include "tidemark/tiles/track_list.h"

namespace tidemark {

class TileWriter {
 public:
  explicit TileWriter(TileSink& sink, std::uint32_t threads = 1);
  TileWriter(const TileWriter&) = delete;
  TileWriter& operator=(const TileWriter&) = delete;
  ~TileWriter();

  // Valid until its next call. Of the thread that puts.
  [[nodiscard]] BlobEncoder& encoder() { return encoder_; }
  void put_tile(TrackNumber track, std::uint32_t level, std::uint64_t tile,
                std::span<const unsigned char> blob);
  void put_directory(TrackNumber track, std::span<const unsigned char> blob);

  // The first error of the sink so far; nothing is put after it.
  [[nodiscard]] Expected<void> result() const;
  // Once everything is in the sink.
  [[nodiscard]] Expected<void> finish();

 private:
  struct Blob {
    std::string name;
    std::vector<unsigned char> plain;
    std::vector<unsigned char> packed;
    bool done = false;
  };
  using Lock = std::unique_lock<std::mutex>;

  void put(std::string name, std::span<const unsigned char> blob);
  void work(RawDeflate& deflate);
  bool compress_next(RawDeflate& deflate, Lock& lock);
  void give_done(Lock& lock);
  Blob& at(std::uint64_t number) { return ring_[number % ring_.size()]; }

  TileSink& sink_;
  BlobEncoder encoder_;
  RawDeflate deflate_;  // of the thread that puts

  mutable std::mutex mutex_;  // of all below; a blob belongs to whoever compresses or gives it
  std::condition_variable waiting_;
  std::condition_variable given_;
  std::vector<Blob> ring_;
  std::uint64_t added_ = 0, taken_ = 0, next_given_ = 0;  // blobs
  bool is_giving_ = false;
  bool ends_ = false;
  std::optional<Error> error_;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace tidemark
