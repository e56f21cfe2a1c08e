// SPDX-License-Identifier: Apache-2.0
// Gives blobs their names, compresses them, and hands them to the sink. The first error stays:
// whoever makes tiles asks for it now and then.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tidemark/tiles/raw_deflate.h"
#include "tidemark/tiles/tile_codec.h"
#include "tidemark/tiles/tile_sink.h"
#include "tidemark/tiles/track_list.h"

namespace tidemark {

class TileWriter {
 public:
  explicit TileWriter(TileSink& sink) : sink_(sink) {}

  // Valid until its next call.
  [[nodiscard]] BlobEncoder& encoder() { return encoder_; }
  void put_tile(TrackNumber track, std::uint32_t level, std::uint64_t tile,
                std::span<const unsigned char> blob);
  void put_directory(TrackNumber track, std::span<const unsigned char> blob);

  [[nodiscard]] Expected<void> result() const;

 private:
  void put(std::string_view name, std::span<const unsigned char> blob);

  TileSink& sink_;
  RawDeflate deflate_;
  BlobEncoder encoder_;
  std::optional<Error> error_;
};

}  // namespace tidemark
