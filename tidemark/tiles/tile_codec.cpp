// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/tile_codec.h"

#include <cstring>

namespace tidemark {
namespace {

constexpr std::size_t kNumberBytesMost = 10;  // of 64 bits, 7 in a byte
constexpr unsigned char kMagic[] = {'T', 'M', 'T', '1'};

unsigned char* put_number(unsigned char* at, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<unsigned char>(value | 0x80);
  *at++ = static_cast<unsigned char>(value);
  return at;
}

// The difference to the number before. Differences wrap: the numbers may be anything.
class Delta {
 public:
  explicit Delta(std::uint64_t before) : before_(before) {}
  std::uint64_t operator()(std::uint64_t value) {
    const std::uint64_t delta = value - before_;
    before_ = value;
    return delta;
  }

 private:
  std::uint64_t before_;
};

std::uint64_t less(std::int64_t value, std::int64_t by) {
  return zigzag(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                          static_cast<std::uint64_t>(by)));
}

std::uint64_t low_task_delta(std::uint64_t task, std::uint32_t& before) {
  const auto low = static_cast<std::uint32_t>(task);
  const auto delta = static_cast<std::int32_t>(low - before);
  before = low;
  return static_cast<std::uint32_t>(zigzag(delta));
}

}  // namespace

void BlobEncoder::begin(BlobKind kind, std::size_t count, std::uint64_t base) {
  if (bytes_.size() < kBlobHeaderBytes) bytes_.resize(kBlobHeaderBytes);
  std::memset(bytes_.data(), 0, kBlobHeaderBytes);
  std::memcpy(bytes_.data(), kMagic, sizeof(kMagic));
  bytes_[4] = static_cast<unsigned char>(kind);
  put_u32(8, count);
  put_u32(12, base & 0xFFFFFFFFu);
  put_u32(16, base >> 32);
  size_ = kBlobHeaderBytes;
}

void BlobEncoder::put_u32(std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes_[at + i] = static_cast<unsigned char>(value >> (8 * i));
}

template <class Rows, class Number>
void BlobEncoder::column(const Rows& rows, Number number_of) {
  const std::size_t begin = size_ + 4;
  const std::size_t most = begin + rows.size() * kNumberBytesMost;
  if (bytes_.size() < most) bytes_.resize(most);
  unsigned char* at = bytes_.data() + begin;
  for (const auto& row : rows) at = put_number(at, number_of(row));
  const auto end = static_cast<std::size_t>(at - bytes_.data());
  put_u32(size_, end - begin);
  size_ = end;
}

BlobEncoder::Bytes BlobEncoder::spans(std::span<const TileSpan> rows) {
  const std::uint64_t base = rows.empty() ? 0 : rows.front().begin;
  begin(BlobKind::kSpans, rows.size(), base);
  column(rows, [delta = Delta(base)](const TileSpan& row) mutable { return delta(row.begin); });
  column(rows, [](const TileSpan& row) { return row.length; });
  column(rows, [](const TileSpan& row) { return row.name; });
  column(rows,
         [before = 0u](const TileSpan& row) mutable { return low_task_delta(row.task, before); });
  column(rows, [](const TileSpan& row) { return row.task >> 32; });
  column(rows, [](const TileSpan& row) { return row.aux; });
  column(rows, [](const TileSpan& row) { return row.row; });
  column(rows, [](const TileSpan& row) { return row.flags; });
  return done();
}

BlobEncoder::Bytes BlobEncoder::buckets(std::span<const TileBucket> rows) {
  const std::uint64_t base = rows.empty() ? 0 : rows.front().number;
  begin(BlobKind::kBuckets, rows.size(), base);
  column(rows, [delta = Delta(base)](const TileBucket& row) mutable { return delta(row.number); });
  column(rows, [](const TileBucket& row) { return row.count; });
  column(rows, [](const TileBucket& row) { return row.busy; });
  column(rows, [](const TileBucket& row) { return row.longest; });
  column(rows, [](const TileBucket& row) { return row.name; });
  column(rows, [](const TileBucket& row) { return row.flags; });
  return done();
}

BlobEncoder::Bytes BlobEncoder::samples(std::span<const TileSample> rows) {
  const std::uint64_t base = rows.empty() ? 0 : rows.front().begin;
  begin(BlobKind::kSamples, rows.size(), base);
  column(rows, [delta = Delta(base)](const TileSample& row) mutable { return delta(row.begin); });
  column(rows, [before = std::int64_t{0}](const TileSample& row) mutable {
    const std::uint64_t number = less(row.value, before);
    before = row.value;
    return number;
  });
  return done();
}

BlobEncoder::Bytes BlobEncoder::sample_buckets(std::span<const TileSampleBucket> rows) {
  const std::uint64_t base = rows.empty() ? 0 : rows.front().number;
  begin(BlobKind::kSampleBuckets, rows.size(), base);
  using Row = TileSampleBucket;
  column(rows, [delta = Delta(base)](const Row& row) mutable { return delta(row.number); });
  column(rows, [](const Row& row) { return row.count; });
  column(rows, [](const Row& row) { return zigzag(row.least); });
  column(rows, [](const Row& row) { return less(row.most, row.least); });
  column(rows, [](const Row& row) { return less(row.last, row.least); });
  return done();
}

BlobEncoder::Bytes BlobEncoder::directory(const TileDirectory& directory) {
  using Leaf = TileDirectory::Leaf;
  begin(BlobKind::kDirectory, directory.leaves.size(), 0);
  column(directory.leaves,
         [delta = Delta(0)](const Leaf& leaf) mutable { return delta(leaf.begin); });
  column(directory.leaves, [](const Leaf& leaf) { return leaf.end - leaf.begin; });
  column(directory.leaves, [](const Leaf& leaf) { return leaf.count; });
  for (const auto& tiles : directory.levels) {
    if (bytes_.size() < size_ + 4) bytes_.resize(size_ + 4);
    put_u32(size_, tiles.size());
    size_ += 4;
    column(tiles, [delta = Delta(0)](std::uint64_t tile) mutable { return delta(tile); });
  }
  return done();
}

BlobEncoder::Bytes BlobEncoder::sketch(std::span<const SketchPage> pages) {
  begin(BlobKind::kSketch, pages.size(), 0);
  column(pages, [delta = Delta(0)](const SketchPage& page) mutable { return delta(page.begin); });
  column(pages, [](const SketchPage& page) { return page.end - page.begin; });
  column(pages, [](const SketchPage& page) { return page.records; });
  return done();
}

}  // namespace tidemark
