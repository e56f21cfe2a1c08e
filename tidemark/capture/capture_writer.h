// SPDX-License-Identifier: Apache-2.0
// Writes capture.tide: an append-only log of chunks, valid at every moment. A chunk's header is
// written after its payload, so a chunk is whole or absent. Pages come from all drain threads at
// once; everything else from the session.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/capture/capture_space.h"
#include "tidemark/capture/chunk.h"
#include "tidemark/ledger/page_sink.h"

namespace tidemark {

class CaptureWriter : public PageSink {
 public:
  // A new file; refused if it exists. The file is locked for the life of its writer.
  static Expected<std::unique_ptr<CaptureWriter>> create(const std::string& path,
                                                         std::uint64_t run_id,
                                                         CaptureSpace::Options options = {});
  // Goes on after everything that is in an existing file. `known` is what a reader found since the
  // file was locked.
  static Expected<std::unique_ptr<CaptureWriter>> append_to(UniqueFd locked,
                                                            const std::string& path,
                                                            std::uint64_t run_id,
                                                            std::vector<IndexEntry> known,
                                                            CaptureSpace::Options options = {});

  bool append(const PageDelivery& page) override;

  // Chunks without a lane; the key's sequence numbers chunks of one type.
  Expected<void> append_text(ChunkType type, std::string_view text);
  // Once no other thread appends: these may use the space kept back for a full disk.
  Expected<void> append_closing_text(ChunkType type, std::string_view text);
  Expected<void> append_lanes(CaptureSpace::Bytes lanes, bool recovered);

  // Index, end mark, and the file cut to length. Nothing is written afterwards. Where the disk has
  // no room for the index the file goes without: readers then scan.
  Expected<void> finish();
  // Waits until the file is on stable storage.
  Expected<void> sync() { return space_->sync(); }

  // Why pages are no longer accepted; empty while they are.
  [[nodiscard]] std::string error() const { return space_->error(); }
  // Bytes of chunks that found no space.
  [[nodiscard]] std::uint64_t refused_bytes() const {
    return refused_bytes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t page_bytes() const;

 private:
  CaptureWriter(std::unique_ptr<CaptureSpace> space, std::uint64_t run_id)
      : space_(std::move(space)), run_id_(run_id) {}

  using Bytes = CaptureSpace::Bytes;
  bool append_by_call(const PageDelivery& page, const CaptureSpace::Claim& claim,
                      ChunkHeader chunk);
  bool put_by_call(const CaptureSpace::Claim& claim, ChunkHeader chunk, Bytes first, Bytes second);
  bool put(const CaptureSpace::Claim& claim, ChunkHeader chunk, Bytes payload);
  bool refuse(std::uint64_t bytes);
  // The header with what follows from its place.
  [[nodiscard]] ChunkHeader at(const CaptureSpace::Claim& claim, ChunkHeader chunk) const;
  void seal(const CaptureSpace::Claim& claim, const ChunkHeader& chunk);
  void note(const ChunkHeader& header);
  Expected<void> append_closing(ChunkHeader chunk, Bytes payload);
  [[nodiscard]] bool append_index();

  std::unique_ptr<CaptureSpace> space_;
  const std::uint64_t run_id_;
  mutable std::mutex mutex_;
  std::vector<IndexEntry> index_;
  std::uint64_t text_count_ = 0;
  std::atomic<std::uint64_t> refused_bytes_{0};
};

// Opens an existing capture for a writer and locks it. kUsage: another writer, a run or a recovery,
// holds it.
Expected<UniqueFd> lock_capture(const std::string& path);
// True while a writer holds the file.
bool is_being_written(const std::string& path);

}  // namespace tidemark
