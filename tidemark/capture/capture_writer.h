// SPDX-License-Identifier: Apache-2.0
// Writes capture.tide: an append-only log of chunks, valid at every moment. A chunk's header is
// written after its payload, so a chunk is whole or absent. Pages come from all drain threads at
// once; everything else from the session.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/capture/capture_space.h"
#include "tidemark/capture/chunk.h"
#include "tidemark/collect/page_sink.h"

namespace tidemark {

class CaptureWriter : public PageSink {
 public:
  // A new file; refused if it exists.
  static Expected<std::unique_ptr<CaptureWriter>> create(const std::string& path,
                                                         std::uint64_t run_id,
                                                         CaptureSpace::Options options = {});
  // Goes on behind everything that stands in an existing file. `known` is what a reader found.
  static Expected<std::unique_ptr<CaptureWriter>> append_to(const std::string& path,
                                                            std::uint64_t run_id,
                                                            std::vector<IndexEntry> known);

  bool append(const PageDelivery& page) override;

  // Chunks without a lane; the key's sequence numbers chunks of one type.
  Expected<void> append_text(ChunkType type, std::string_view text);
  // Once no other thread appends: these may use the space kept back for a full disk.
  Expected<void> append_closing_text(ChunkType type, std::string_view text);
  Expected<void> append_lanes(const std::vector<unsigned char>& lanes, bool recovered);

  // Index, end mark, and the file cut to length. Nothing is written afterwards.
  Expected<void> finish();

  // Why pages are no longer accepted; empty while they are.
  [[nodiscard]] std::string error() const { return space_->error(); }
  [[nodiscard]] std::uint64_t page_bytes() const;

 private:
  CaptureWriter(std::unique_ptr<CaptureSpace> space, std::string path, std::uint64_t run_id)
      : space_(std::move(space)), path_(std::move(path)), run_id_(run_id) {}

  struct Chunk {
    ChunkType type;
    std::uint8_t flags = 0;
    std::uint32_t lane = 0;
    std::uint32_t epoch = 0;
    std::uint64_t sequence = 0;
    std::uint64_t payload_bytes = 0;
    std::uint64_t payload_checksum = 0;
  };
  bool append_direct(const PageDelivery& page, const CaptureSpace::Claim& claim, Chunk chunk);
  [[nodiscard]] ChunkHeader header_of(const CaptureSpace::Claim& claim, const Chunk& chunk) const;
  void seal(const CaptureSpace::Claim& claim, const Chunk& chunk);
  void note(const CaptureSpace::Claim& claim, const Chunk& chunk);
  Expected<void> append_closing(Chunk chunk, const void* payload);

  std::unique_ptr<CaptureSpace> space_;
  const std::string path_;
  const std::uint64_t run_id_;
  mutable std::mutex mutex_;
  std::vector<IndexEntry> index_;
  std::uint64_t text_count_ = 0;
};

}  // namespace tidemark
