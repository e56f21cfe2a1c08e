// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/raw_deflate.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "tidemark/base/check.h"

namespace tidemark {
namespace {

constexpr int kRawWindowBits = -15;  // negative: no header, no checksum
constexpr int kMemoryLevel = 8;

uInt size_of(std::size_t bytes) {
  TM_CHECK(bytes <= std::numeric_limits<uInt>::max());
  return static_cast<uInt>(bytes);
}

}  // namespace

struct RawDeflate::Stream {
  z_stream z{};
  Stream() {
    TM_CHECK(deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, kRawWindowBits, kMemoryLevel,
                          Z_DEFAULT_STRATEGY) == Z_OK);
  }
  ~Stream() { deflateEnd(&z); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

RawDeflate::RawDeflate() : stream_(std::make_unique<Stream>()) {}
RawDeflate::~RawDeflate() = default;
RawDeflate::RawDeflate(RawDeflate&&) noexcept = default;
RawDeflate& RawDeflate::operator=(RawDeflate&&) noexcept = default;

std::span<const unsigned char> RawDeflate::compress(std::span<const unsigned char> bytes) {
  z_stream& z = stream_->z;
  TM_CHECK(deflateReset(&z) == Z_OK);
  const std::size_t most = deflateBound(&z, bytes.size());
  if (out_.size() < most) out_.resize(most);
  z.next_in = const_cast<Bytef*>(bytes.data());  // zlib does not write there
  z.avail_in = size_of(bytes.size());
  z.next_out = out_.data();
  z.avail_out = size_of(out_.size());
  TM_CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
  return {out_.data(), static_cast<std::size_t>(z.next_out - out_.data())};
}

Expected<std::vector<unsigned char>> inflate_raw(std::span<const unsigned char> bytes,
                                                 std::size_t most) {
  z_stream z{};
  if (bytes.size() > std::numeric_limits<uInt>::max() || inflateInit2(&z, kRawWindowBits) != Z_OK)
    return failure(ErrorKind::kDamage, "a tile of {} bytes cannot be inflated", bytes.size());
  z.next_in = const_cast<Bytef*>(bytes.data());
  z.avail_in = size_of(bytes.size());
  std::vector<unsigned char> out;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t had = out.size();
    if (had > most) break;
    out.resize(had + std::clamp<std::size_t>(2 * bytes.size(), 4096, 1 << 20));
    z.next_out = out.data() + had;
    z.avail_out = size_of(out.size() - had);
    status = inflate(&z, Z_NO_FLUSH);
    out.resize(out.size() - z.avail_out);
    // No progress: the bytes end too early.
    if (status == Z_BUF_ERROR || (status == Z_OK && out.size() == had && z.avail_in == 0)) break;
  }
  const bool whole = status == Z_STREAM_END && z.avail_in == 0;
  inflateEnd(&z);
  if (out.size() > most)
    return failure(ErrorKind::kDamage, "a tile inflates to more than {} bytes", most);
  if (!whole) return failure(ErrorKind::kDamage, "a tile's deflate stream is damaged");
  return out;
}

}  // namespace tidemark
