// SPDX-License-Identifier: Apache-2.0
// Test support: a sink that keeps every blob in memory, and reads documents back as JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tidemark/base/check.h"
#include "tidemark/run/json.h"
#include "tidemark/tiles/raw_deflate.h"
#include "tidemark/tiles/tile_sink.h"

namespace tidemark::samples {

class KeptDocuments : public TileSink {
 public:
  Expected<void> put(std::string_view name, std::span<const unsigned char> bytes) override {
    if (blobs_.size() == refuse_after) return failure(ErrorKind::kFile, "no room for {}", name);
    blobs_[std::string(name)].assign(bytes.begin(), bytes.end());
    return {};
  }

  std::size_t refuse_after = ~std::size_t{0};  // so many blobs

  [[nodiscard]] bool has(const std::string& name) const { return blobs_.contains(name); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : blobs_) names.push_back(name);
    return names;
  }
  [[nodiscard]] std::vector<unsigned char> bytes(const std::string& name) const {
    TM_CHECK(has(name));
    return inflate_raw(blobs_.at(name), std::size_t{1} << 30).value();
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    const auto all = bytes(name);
    return {all.begin(), all.end()};
  }
  [[nodiscard]] rapidjson::Document json(const std::string& name) const {
    rapidjson::Document document;
    const std::string all = text(name);
    document.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseFullPrecisionFlag>(
        all.data(), all.size());
    TM_CHECK(!document.HasParseError());
    return document;
  }

 private:
  std::map<std::string, std::vector<unsigned char>> blobs_;
};

}  // namespace tidemark::samples
