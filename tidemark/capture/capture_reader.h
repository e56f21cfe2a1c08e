// SPDX-License-Identifier: Apache-2.0
// Reads capture.tide. With its index a capture opens at once; without it, or with any of it
// damaged, the reader scans for every chunk whose checksums hold and says what it could not read.
// Nothing in the file is believed before it is checked; memory stays bounded by one chunk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/capture/chunk.h"

namespace tidemark {

struct Damage {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::string what;
};

class CaptureReader {
 public:
  enum class Open {
    kIndexed,  // by the index if there is one
    kScan,     // every byte is looked at and every checksum verified
    kLive,     // the same, of a file that is being written: what is not sealed yet is no damage
  };
  static Expected<CaptureReader> open(const std::string& path, Open how = Open::kIndexed);

  [[nodiscard]] std::uint64_t run_id() const { return run_id_; }
  // In file order; for one lane that is also the order of its pages.
  [[nodiscard]] const std::vector<IndexEntry>& chunks() const { return chunks_; }
  [[nodiscard]] bool used_index() const { return used_index_; }
  // What a scan could not read. What a killed writer had not sealed is not damage: its page is
  // still in the region, and it is in unfinished().
  [[nodiscard]] const std::vector<Damage>& damage() const { return damage_; }
  [[nodiscard]] const std::vector<Damage>& unfinished() const { return unfinished_; }
  // What the first chunk says of itself if it is a newer format than this one; otherwise 0.
  [[nodiscard]] std::uint32_t claimed_format() const { return claimed_format_; }
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }
  // An error if the system refused a read since the file was opened: what could not be read is
  // not known to be damaged.
  [[nodiscard]] Expected<void> expect_read() const;

  // The payload, checksum verified. The span is valid until the next read.
  Expected<std::span<const unsigned char>> read(const IndexEntry& chunk);
  // The beginning of a payload, as much as `bytes` holds: fast, and no checksum covers it.
  [[nodiscard]] bool read_begin(const IndexEntry& chunk, std::span<unsigned char> bytes) const;
  // The newest chunk of a type, by its sequence; null if there is none. Not always the last one in
  // the file: the closing chunks of a full disk are in space that was kept for them.
  [[nodiscard]] const IndexEntry* last_of(ChunkType type) const;

 private:
  bool open_by_index();
  Expected<void> scan();
  bool read_at(std::uint64_t offset, void* to, std::uint64_t bytes) const;
  bool header_at(std::uint64_t offset, ChunkHeader& header) const;
  std::uint64_t scan_chunk(const ChunkHeader& header);
  bool file_reaches(std::uint64_t end);
  bool has_shrunk();
  [[nodiscard]] tl::unexpected<Error> unreadable(std::uint64_t offset) const;
  static void note(std::vector<Damage>& list, std::uint64_t offset, std::uint64_t bytes,
                   std::string what);

  UniqueFd fd_;
  std::string path_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t run_id_ = 0;
  std::vector<IndexEntry> chunks_;
  std::vector<Damage> damage_;
  std::vector<Damage> unfinished_;
  bool used_index_ = false;
  bool live_ = false;
  mutable int read_error_ = 0;  // the system refused a read: what is there is not known
  std::uint32_t claimed_format_ = 0;
  std::vector<unsigned char> buffer_;
};

}  // namespace tidemark
