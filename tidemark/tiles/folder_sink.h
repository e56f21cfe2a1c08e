// SPDX-License-Identifier: Apache-2.0
// A tile set as files below a folder, for any web server. They have the mode that the files of runs
// have (--file-mode). index.json comes last, so that a folder that was not finished has none.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "tidemark/tiles/tile_sink.h"

namespace tidemark {

class FolderSink final : public TileSink {
 public:
  // Makes the folder if need be. An index.json in it goes: what it names is about to change.
  static Expected<FolderSink> create(const std::string& folder);

  Expected<void> put(std::string_view name, std::span<const unsigned char> bytes) override;

  [[nodiscard]] std::uint64_t file_count() const { return file_count_; }
  [[nodiscard]] std::uint64_t byte_count() const { return byte_count_; }

 private:
  explicit FolderSink(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
  std::unordered_set<std::string> folders_;  // that are there
  std::uint64_t file_count_ = 0;
  std::uint64_t byte_count_ = 0;
};

// True: relative, of [a-z0-9/.-], and no part of it is empty or begins with a dot.
bool is_tile_name(std::string_view name);

}  // namespace tidemark
