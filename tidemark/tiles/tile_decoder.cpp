// SPDX-License-Identifier: Apache-2.0
// The decoders of tile_codec.h: for tests, for checks, and for a server that reads its own cache.
#include "tidemark/tiles/tile_codec.h"

namespace tidemark {
namespace {

// Blobs come from a cache or over a wire: every length is checked before it is followed.
class BlobReader {
 public:
  explicit BlobReader(std::span<const unsigned char> blob) : left_(blob) {}

  Expected<void> open(BlobKind kind) {
    if (left_.size() < kBlobHeaderBytes) return fail("is shorter than its header");
    if (left_[0] != 'T' || left_[1] != 'M' || left_[2] != 'T' || left_[3] != '1')
      return fail("does not begin with TMT1");
    if (left_[4] != static_cast<unsigned char>(kind)) return fail("is of another kind");
    if (left_[5] != 0 || left_[6] != 0 || left_[7] != 0) return fail("is of a newer version");
    count_ = u32(8);
    base_ = u32(12) | std::uint64_t{u32(16)} << 32;
    left_ = left_.subspan(kBlobHeaderBytes);
    // Each number takes a byte or more.
    if (count_ > left_.size()) return fail("is too short for its rows");
    return {};
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint64_t base() const { return base_; }
  [[nodiscard]] bool at_end() const { return left_.empty(); }

  // fn(row, number) for each of the column's rows.
  template <class Rows, class Fn>
  Expected<void> column(Rows& rows, const Fn& fn) {
    TM_TRY(const std::uint32_t bytes, length());
    if (bytes > left_.size()) return fail("has a column that reaches past its end");
    const unsigned char* at = left_.data();
    const unsigned char* const end = at + bytes;
    for (auto& row : rows) {
      std::uint64_t value = 0;
      std::uint32_t shift = 0;
      for (;; shift += 7) {
        if (at == end || shift > 63) return fail("has a number that is cut off");
        const unsigned char byte = *at++;
        if (shift == 63 && byte > 1) return fail("has a number of more than 64 bits");
        value |= std::uint64_t{byte & 0x7Fu} << shift;
        if (byte < 0x80) break;
      }
      fn(row, value);
    }
    if (at != end) return fail("has a column that is longer than its rows");
    left_ = left_.subspan(bytes);
    return {};
  }
  Expected<std::uint32_t> length() {
    if (left_.size() < 4) return fail("ends before a column");
    const std::uint32_t bytes = u32(0);
    left_ = left_.subspan(4);
    return bytes;
  }
  Expected<void> end() { return at_end() ? Expected<void>{} : fail("has bytes after its columns"); }
  [[nodiscard]] std::size_t bytes_left() const { return left_.size(); }
  [[nodiscard]] static tl::unexpected<Error> fail(const char* what) {
    return failure(ErrorKind::kDamage, "a tile {}", what);
  }

 private:
  [[nodiscard]] std::uint32_t u32(std::size_t at) const {
    return left_[at] | std::uint32_t{left_[at + 1]} << 8 | std::uint32_t{left_[at + 2]} << 16 |
           std::uint32_t{left_[at + 3]} << 24;
  }
  std::span<const unsigned char> left_;
  std::uint32_t count_ = 0;
  std::uint64_t base_ = 0;
};

// The numbers of a column of differences.
class Sum {
 public:
  explicit Sum(std::uint64_t base) : value_(base) {}
  std::uint64_t operator()(std::uint64_t delta) const { return value_ += delta; }

 private:
  mutable std::uint64_t value_;
};

std::int64_t more(std::int64_t value, std::uint64_t number) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) +
                                   static_cast<std::uint64_t>(unzigzag(number)));
}

template <class Number>
auto into(Number member) {
  return [member](auto& row, std::uint64_t number) {
    row.*member = static_cast<std::remove_reference_t<decltype(row.*member)>>(number);
  };
}

}  // namespace

Expected<std::vector<TileSpan>> decode_spans(std::span<const unsigned char> blob) {
  BlobReader reader(blob);
  TM_TRY_DO(reader.open(BlobKind::kSpans));
  std::vector<TileSpan> rows(reader.count());
  const Sum begin(reader.base());
  TM_TRY_DO(reader.column(rows, [&](TileSpan& row, std::uint64_t n) { row.begin = begin(n); }));
  TM_TRY_DO(reader.column(rows, into(&TileSpan::length)));
  TM_TRY_DO(reader.column(rows, into(&TileSpan::name)));
  std::uint32_t low = 0;
  TM_TRY_DO(reader.column(rows, [&](TileSpan& row, std::uint64_t n) {
    row.task = low += static_cast<std::uint32_t>(unzigzag(n));
  }));
  TM_TRY_DO(reader.column(rows, [](TileSpan& row, std::uint64_t n) { row.task |= n << 32; }));
  TM_TRY_DO(reader.column(rows, into(&TileSpan::aux)));
  TM_TRY_DO(reader.column(rows, into(&TileSpan::row)));
  TM_TRY_DO(reader.column(rows, into(&TileSpan::flags)));
  TM_TRY_DO(reader.end());
  return rows;
}

Expected<std::vector<TileBucket>> decode_buckets(std::span<const unsigned char> blob) {
  BlobReader reader(blob);
  TM_TRY_DO(reader.open(BlobKind::kBuckets));
  std::vector<TileBucket> rows(reader.count());
  const Sum number(reader.base());
  TM_TRY_DO(reader.column(rows, [&](TileBucket& row, std::uint64_t n) { row.number = number(n); }));
  TM_TRY_DO(reader.column(rows, into(&TileBucket::count)));
  TM_TRY_DO(reader.column(rows, into(&TileBucket::busy)));
  TM_TRY_DO(reader.column(rows, into(&TileBucket::longest)));
  TM_TRY_DO(reader.column(rows, into(&TileBucket::name)));
  TM_TRY_DO(reader.column(rows, into(&TileBucket::flags)));
  TM_TRY_DO(reader.end());
  return rows;
}

Expected<std::vector<TileSample>> decode_samples(std::span<const unsigned char> blob) {
  BlobReader reader(blob);
  TM_TRY_DO(reader.open(BlobKind::kSamples));
  std::vector<TileSample> rows(reader.count());
  const Sum begin(reader.base());
  TM_TRY_DO(reader.column(rows, [&](TileSample& row, std::uint64_t n) { row.begin = begin(n); }));
  std::int64_t value = 0;
  TM_TRY_DO(reader.column(
      rows, [&](TileSample& row, std::uint64_t n) { row.value = value = more(value, n); }));
  TM_TRY_DO(reader.end());
  return rows;
}

Expected<std::vector<TileSampleBucket>> decode_sample_buckets(std::span<const unsigned char> blob) {
  using Row = TileSampleBucket;
  BlobReader reader(blob);
  TM_TRY_DO(reader.open(BlobKind::kSampleBuckets));
  std::vector<Row> rows(reader.count());
  const Sum number(reader.base());
  TM_TRY_DO(reader.column(rows, [&](Row& row, std::uint64_t n) { row.number = number(n); }));
  TM_TRY_DO(reader.column(rows, into(&Row::count)));
  TM_TRY_DO(reader.column(rows, [](Row& row, std::uint64_t n) { row.least = unzigzag(n); }));
  TM_TRY_DO(reader.column(rows, [](Row& row, std::uint64_t n) { row.most = more(row.least, n); }));
  TM_TRY_DO(reader.column(rows, [](Row& row, std::uint64_t n) { row.last = more(row.least, n); }));
  TM_TRY_DO(reader.end());
  return rows;
}

Expected<TileDirectory> decode_directory(std::span<const unsigned char> blob) {
  using Leaf = TileDirectory::Leaf;
  BlobReader reader(blob);
  TM_TRY_DO(reader.open(BlobKind::kDirectory));
  TileDirectory made;
  made.leaves.resize(reader.count());
  const Sum begin(0);
  TM_TRY_DO(reader.column(made.leaves, [&](Leaf& row, std::uint64_t n) { row.begin = begin(n); }));
  TM_TRY_DO(
      reader.column(made.leaves, [](Leaf& row, std::uint64_t n) { row.end = row.begin + n; }));
  TM_TRY_DO(reader.column(made.leaves, into(&Leaf::count)));
  while (!reader.at_end()) {
    if (made.levels.size() == kLevelMost) return BlobReader::fail("has too many levels");
    TM_TRY(const std::uint32_t tiles, reader.length());
    if (tiles > reader.bytes_left()) return BlobReader::fail("is too short for a level's tiles");
    std::vector<std::uint64_t> numbers(tiles);
    const Sum number(0);
    TM_TRY_DO(
        reader.column(numbers, [&](std::uint64_t& row, std::uint64_t n) { row = number(n); }));
    made.levels.push_back(std::move(numbers));
  }
  return made;
}

Expected<std::vector<SketchPage>> decode_sketch(std::span<const unsigned char> blob) {
  BlobReader reader(blob);
  TM_TRY_DO(reader.open(BlobKind::kSketch));
  std::vector<SketchPage> pages(reader.count());
  const Sum begin(0);
  TM_TRY_DO(reader.column(pages, [&](SketchPage& row, std::uint64_t n) { row.begin = begin(n); }));
  TM_TRY_DO(
      reader.column(pages, [](SketchPage& row, std::uint64_t n) { row.end = row.begin + n; }));
  TM_TRY_DO(reader.column(pages, into(&SketchPage::records)));
  TM_TRY_DO(reader.end());
  return pages;
}

}  // namespace tidemark
