// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/tile_writer.h"

#include <fmt/core.h>

namespace tidemark {
namespace {

// Enough that nobody waits for the one that takes longest; each blob has at most some 300 KiB.
constexpr std::size_t kBlobsOfThread = 4;

}  // namespace

TileWriter::TileWriter(TileSink& sink, std::uint32_t threads)
    : sink_(sink), ring_(threads > 1 ? threads * kBlobsOfThread : 0) {
  for (std::uint32_t i = 1; i < threads; ++i)
    threads_.emplace_back([this] {
      RawDeflate deflate;
      work(deflate);
    });
}

TileWriter::~TileWriter() {
  {
    const Lock lock(mutex_);
    ends_ = true;
  }
  waiting_.notify_all();
}

void TileWriter::put_tile(TrackNumber track, std::uint32_t level, std::uint64_t tile,
                          std::span<const unsigned char> blob) {
  put(fmt::format("t/{}/{}/{}", track, level, tile), blob);
}

void TileWriter::put_directory(TrackNumber track, std::span<const unsigned char> blob) {
  put(fmt::format("dir/{}", track), blob);
}

void TileWriter::put(std::string name, std::span<const unsigned char> blob) {
  Lock lock(mutex_);
  if (error_) return;
  if (ring_.empty()) {
    if (auto done = sink_.put(name, deflate_.compress(blob)); !done) error_ = done.error();
    return;
  }
  while (added_ - next_given_ == ring_.size())
    if (!compress_next(deflate_, lock)) given_.wait(lock);
  Blob& free = at(added_);
  free.name = std::move(name);
  free.plain.assign(blob.begin(), blob.end());
  free.done = false;
  ++added_;
  waiting_.notify_one();
}

void TileWriter::work(RawDeflate& deflate) {
  Lock lock(mutex_);
  while (!ends_)
    if (!compress_next(deflate, lock)) waiting_.wait(lock);
}

// False: none waits for it.
bool TileWriter::compress_next(RawDeflate& deflate, Lock& lock) {
  if (taken_ == added_) return false;
  Blob& blob = at(taken_++);
  lock.unlock();
  const auto packed = deflate.compress(blob.plain);
  blob.packed.assign(packed.begin(), packed.end());
  lock.lock();
  blob.done = true;
  give_done(lock);
  return true;
}

// What is done up to the first one that is not. One thread at a time: others leave it to that one.
void TileWriter::give_done(Lock& lock) {
  if (is_giving_) return;
  is_giving_ = true;
  while (next_given_ < taken_ && at(next_given_).done) {
    const Blob& blob = at(next_given_);
    if (!error_) {
      lock.unlock();
      auto done = sink_.put(blob.name, blob.packed);
      lock.lock();
      if (!done) error_ = done.error();
    }
    ++next_given_;
    given_.notify_one();
  }
  is_giving_ = false;
}

Expected<void> TileWriter::result() const {
  const Lock lock(mutex_);
  if (error_) return tl::unexpected(*error_);
  return {};
}

Expected<void> TileWriter::finish() {
  {
    Lock lock(mutex_);
    while (next_given_ < added_)
      if (!compress_next(deflate_, lock)) given_.wait(lock);
  }
  return result();
}

}  // namespace tidemark
