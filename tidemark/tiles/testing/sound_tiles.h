// SPDX-License-Identifier: Apache-2.0
// Test support: a sink that keeps nothing and believes nothing. Each blob has to be what its name
// says, and decode; times and row counts have to be possible.
#pragma once

#include <algorithm>
#include <string>

#include <rapidjson/document.h>

#include "tidemark/base/check.h"
#include "tidemark/tiles/dense_tiles.h"
#include "tidemark/tiles/folder_sink.h"
#include "tidemark/tiles/raw_deflate.h"
#include "tidemark/tiles/tile_codec.h"

namespace tidemark::samples {

class SoundTiles final : public TileSink {
 public:
  Expected<void> put(std::string_view name, std::span<const unsigned char> bytes) override {
    TM_CHECK(is_tile_name(name));
    TM_CHECK(!has_index());
    ++count_;
    if (name == "index.json") {
      index_.Parse<rapidjson::kParseValidateEncodingFlag>(
          reinterpret_cast<const char*>(bytes.data()), bytes.size());
      TM_CHECK(!index_.HasParseError());
      TM_CHECK(index_.IsObject());
      return {};
    }
    const auto blob = inflate_raw(bytes, 64 << 20);
    TM_CHECK(blob.has_value());
    if (name.starts_with("t/")) check_tile(*blob, name);
    if (name.starts_with("dir/"))
      TM_CHECK(decode_directory(*blob).has_value() || decode_sketch(*blob).has_value());
    return {};
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool has_index() const { return index_.IsObject(); }
  [[nodiscard]] const rapidjson::Document& index() const { return index_; }

 private:
  static void check_tile(const std::vector<unsigned char>& blob, std::string_view name) {
    const bool is_leaf = name.find("/0/") != std::string_view::npos && name.rfind("/0/") > 2;
    if (blob[4] == static_cast<unsigned char>(BlobKind::kSpans)) {
      const auto rows = decode_spans(blob);
      TM_CHECK(rows.has_value());
      TM_CHECK(is_leaf && !rows->empty() && rows->size() <= kLeafRows);
      for (std::size_t i = 0; i < rows->size(); ++i) {
        TM_CHECK((*rows)[i].end() < std::uint64_t{1} << 53);
        TM_CHECK(i == 0 || (*rows)[i].begin >= (*rows)[i - 1].begin);
      }
    } else if (blob[4] == static_cast<unsigned char>(BlobKind::kSamples)) {
      const auto rows = decode_samples(blob);
      TM_CHECK(rows.has_value());
      TM_CHECK(is_leaf && !rows->empty() && rows->size() <= kLeafRows);
    } else if (blob[4] == static_cast<unsigned char>(BlobKind::kBuckets)) {
      check_buckets(decode_buckets(blob));
    } else {
      check_buckets(decode_sample_buckets(blob));
    }
  }
  template <class Rows>
  static void check_buckets(const Rows& rows) {
    TM_CHECK(rows.has_value());
    TM_CHECK(!rows->empty() && rows->size() <= kTileBuckets);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < rows->size(); ++i) {
      TM_CHECK((*rows)[i].number >> kTileBucketBits == rows->front().number >> kTileBucketBits);
      TM_CHECK(i == 0 || (*rows)[i].number > (*rows)[i - 1].number);
      count += (*rows)[i].count;
    }
    TM_CHECK(count > kSparseRows);
  }

  std::size_t count_ = 0;
  rapidjson::Document index_;
};

}  // namespace tidemark::samples
