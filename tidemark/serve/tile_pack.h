// SPDX-License-Identifier: Apache-2.0
// A tile set in one temporary file that has no name: blobs behind each other, and in memory where
// each of them is. However the process ends, the file is gone.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tidemark/base/unique_fd.h"
#include "tidemark/tiles/tile_sink.h"

namespace tidemark {

class TilePack : public TileSink {
 public:
  // `folder`: where there is room for it.
  static Expected<std::unique_ptr<TilePack>> create(const std::string& folder);

  Expected<void> put(std::string_view name, std::span<const unsigned char> bytes) override;
  // After the last `put`, before the first `read`.
  Expected<void> finish();

  // Any thread. Nothing: there is no such blob.
  [[nodiscard]] Expected<std::optional<std::string>> read(std::string_view name) const;

  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] const std::map<std::string, Place, std::less<>>& places() const { return places_; }

 private:
  TilePack(std::string folder, UniqueFd fd) : folder_(std::move(folder)), fd_(std::move(fd)) {}
  Expected<void> flush();

  std::string folder_;
  UniqueFd fd_;
  std::string unwritten_;  // the end of the file
  std::uint64_t written_ = 0;
  std::map<std::string, Place, std::less<>> places_;
};

// TMPDIR, or /tmp.
std::string temporary_folder();

}  // namespace tidemark
