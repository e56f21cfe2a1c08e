// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/track_maker.h"

#include <algorithm>

namespace tidemark {
namespace {

std::uint64_t end_of(const TileSpan& span) { return span.end(); }
std::uint64_t end_of(const TileSample& sample) { return sample.begin; }

auto encode(BlobEncoder& encoder, std::span<const TileSpan> rows) { return encoder.spans(rows); }
auto encode(BlobEncoder& encoder, std::span<const TileSample> rows) {
  return encoder.samples(rows);
}
auto encode(BlobEncoder& encoder, std::span<const TileBucket> rows) {
  return encoder.buckets(rows);
}
auto encode(BlobEncoder& encoder, std::span<const TileSampleBucket> rows) {
  return encoder.sample_buckets(rows);
}

}  // namespace

std::uint16_t RowPlaces::place(std::uint64_t begin, std::uint64_t end) {
  std::size_t row = 0;
  while (row < ends_.size() && ends_[row] > begin) ++row;
  if (row == ends_.size() && row < kRowsMost) ends_.push_back(0);
  row = std::min(row, kRowsMost - 1);
  ends_[row] = std::max(ends_[row], end);
  return static_cast<std::uint16_t>(row);
}

template <class Row, class Pyramid>
void RowTrackMaker<Row, Pyramid>::restart() {
  directory_ = {};
  directory_.levels.resize(grid_.level_count);
  totals_ = {};
  places_ = {};
  leaf_.clear();
  leaf_end_ = 0;
  pyramid_.emplace(grid_, [this](std::uint32_t level, std::uint64_t tile, auto rows) {
    writer_.put_tile(track_, level, tile, encode(writer_.encoder(), rows));
    directory_.levels[level - 1].push_back(tile);
  });
}

template <class Row, class Pyramid>
void RowTrackMaker<Row, Pyramid>::take(Row row) {
  if constexpr (requires { row.row; }) row.row = places_.place(row.begin, end_of(row));
  pyramid_->add(row);
  leaf_end_ = std::max(leaf_end_, end_of(row));
  leaf_.push_back(row);
  if (leaf_.size() == kLeafRows) put_leaf();
}

template <class Row, class Pyramid>
void RowTrackMaker<Row, Pyramid>::put_leaf() {
  if (leaf_.empty()) return;
  writer_.put_tile(track_, 0, directory_.leaves.size(), encode(writer_.encoder(), leaf_));
  directory_.leaves.push_back({leaf_.front().begin, leaf_end_, leaf_.size()});
  totals_.count += leaf_.size();
  totals_.end = std::max(totals_.end, leaf_end_);
  leaf_.clear();
  leaf_end_ = 0;
}

template <class Row, class Pyramid>
bool RowTrackMaker<Row, Pyramid>::end_pass() {
  if (done_) return false;
  using Next = typename TimeOrder<Row>::Next;
  const Next next = order_.end_pass([this](const Row& due) { take(due); });
  if (next == Next::kAgainFromStart) restart();
  if (next != Next::kDone) return true;
  put_leaf();
  pyramid_->finish();
  writer_.put_directory(track_, writer_.encoder().directory(directory_));
  totals_.rows = std::max(1u, places_.count());
  done_ = true;
  pyramid_.reset();
  leaf_ = {};
  return false;
}

template class RowTrackMaker<TileSpan, BucketPyramid>;
template class RowTrackMaker<TileSample, SamplePyramid>;

}  // namespace tidemark
