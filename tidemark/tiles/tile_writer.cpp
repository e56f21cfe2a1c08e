// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/tile_writer.h"

namespace tidemark {

void TileWriter::put_tile(TrackNumber track, std::uint32_t level, std::uint64_t tile,
                          std::span<const unsigned char> blob) {
  put(fmt::format("t/{}/{}/{}", track, level, tile), blob);
}

void TileWriter::put_directory(TrackNumber track, std::span<const unsigned char> blob) {
  put(fmt::format("dir/{}", track), blob);
}

void TileWriter::put(std::string_view name, std::span<const unsigned char> blob) {
  if (error_) return;
  if (auto done = sink_.put(name, deflate_.compress(blob)); !done) error_ = done.error();
}

Expected<void> TileWriter::result() const {
  if (error_) return tl::unexpected(*error_);
  return {};
}

}  // namespace tidemark
