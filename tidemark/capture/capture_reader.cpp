// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/capture_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tidemark/base/whole_io.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kScanBlockBytes = 1 << 20;

bool all_zero(const unsigned char* bytes, std::size_t size) {
  return std::all_of(bytes, bytes + size, [](unsigned char byte) { return byte == 0; });
}

bool begins_chunk(const unsigned char* bytes) {
  return std::memcmp(bytes, &kChunkMagic, sizeof(kChunkMagic)) == 0;
}

}  // namespace

Expected<CaptureReader> CaptureReader::open(const std::string& path, Open how) {
  CaptureReader reader;
  reader.path_ = path;
  reader.live_ = how == Open::kLive;
  reader.fd_.reset(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (!reader.fd_.valid()) return file_failure("open", path);
  struct stat info {};
  if (::fstat(reader.fd_.get(), &info) != 0) return file_failure("stat", path);
  if (!S_ISREG(info.st_mode)) return failure(ErrorKind::kUsage, "{} is not a file", path);
  reader.file_bytes_ = static_cast<std::uint64_t>(info.st_size);
  ChunkHeader first{};
  const bool newer = reader.read_at(0, &first, sizeof(first)) && first.magic == kChunkMagic &&
                     first.version_major > kFormatMajor;
  const auto refuse = [&] {
    return failure(ErrorKind::kUsage,
                   "{} is a capture of format {}; this tidemark reads up to format {}", path,
                   first.version_major, kFormatMajor);
  };
  // A version that its own checksum does not confirm may be one flipped bit: chunks of this format
  // behind it tell.
  if (newer && first.header_checksum == checksum_of_header(first)) return refuse();
  if (newer) reader.claimed_format_ = first.version_major;
  if (how == Open::kIndexed && !newer && reader.open_by_index()) return reader;
  if (auto scanned = reader.scan(); !scanned) {
    if (newer) return refuse();
    return tl::unexpected(scanned.error());
  }
  return reader;
}

bool CaptureReader::read_at(std::uint64_t offset, void* to, std::uint64_t bytes) const {
  if (offset > file_bytes_ || bytes > file_bytes_ - offset) return false;
  const ssize_t got = tidemark::read_at(fd_.get(), offset, to, bytes);
  if (got < 0) read_error_ = errno;
  return got == static_cast<ssize_t>(bytes);
}

bool CaptureReader::header_at(std::uint64_t offset, ChunkHeader& header) const {
  return read_at(offset, &header, sizeof(header)) && header.magic == kChunkMagic &&
         header.version_major == kFormatMajor && header.file_offset == offset &&
         header.header_checksum == checksum_of_header(header);
}

bool CaptureReader::open_by_index() {
  ChunkHeader end{}, index{};
  if (file_bytes_ < 2 * sizeof(ChunkHeader) || file_bytes_ % kChunkAlign != 0) return false;
  if (!header_at(file_bytes_ - sizeof(ChunkHeader), end)) return false;
  if (end.type != ChunkType::kEnd) return false;
  if (!header_at(end.sequence, index) || index.run_id != end.run_id) return false;
  if (index.type != ChunkType::kIndex) return false;
  if (index.payload_bytes > file_bytes_ || index.payload_bytes > kChunkPayloadMax ||
      index.payload_bytes % sizeof(IndexEntry) != 0)
    return false;
  std::vector<IndexEntry> entries(index.payload_bytes / sizeof(IndexEntry));
  if (!read_at(end.sequence + sizeof(ChunkHeader), entries.data(), index.payload_bytes))
    return false;
  if (checksum(entries.data(), index.payload_bytes) != index.payload_checksum) return false;
  // In file order and apart: whoever reads every entry reads no byte twice.
  std::uint64_t end_of_last = 0;
  for (const auto& entry : entries) {
    if (entry.file_offset < end_of_last || entry.file_offset > end.sequence ||
        entry.payload_bytes > end.sequence - entry.file_offset)
      return false;
    end_of_last = entry.file_offset + chunk_span(entry.payload_bytes);
  }
  chunks_ = std::move(entries);
  chunks_.push_back(entry_of(index));
  chunks_.push_back(entry_of(end));
  run_id_ = end.run_id;
  used_index_ = true;
  return true;
}

Expected<void> CaptureReader::scan() {
  std::vector<unsigned char> block(std::min(kScanBlockBytes, file_bytes_));
  std::uint64_t offset = 0;
  // A writer that was killed leaves payload without a header: the header's place is still zero.
  bool unsealed = false;
  while (offset < file_bytes_) {
    const std::uint64_t size = std::min(kScanBlockBytes, file_bytes_ - offset);
    const bool whole = read_at(offset, block.data(), size);
    // A writer that ends cuts the space it had allocated ahead.
    if (!whole && live_ && has_shrunk()) continue;
    if (!whole) return unreadable(offset);
    std::uint64_t at = 0;
    while (at < size) {
      const std::uint64_t left = std::min<std::uint64_t>(size - at, kChunkAlign);
      ChunkHeader header{};
      if (all_zero(block.data() + at, left)) {
        unsealed = true;
        at += left;
      } else if (left == kChunkAlign && begins_chunk(block.data() + at) &&
                 header_at(offset + at, header)) {
        unsealed = false;
        at += scan_chunk(header);
      } else {
        unsealed |= all_zero(block.data() + at, std::min<std::uint64_t>(left, 8));
        if (unsealed || live_)
          note(unfinished_, offset + at, left, "a chunk that was never sealed");
        else
          note(damage_, offset + at, left, "bytes that are no chunk");
        at += left;
      }
      // Not damage: another reader may find it.
      if (read_error_ != 0) return unreadable(offset + at);
    }
    offset += at;
  }
  if (chunks_.empty())
    return failure(ErrorKind::kDamage, "{} holds no readable chunk: not a capture, or lost whole",
                   path_);
  return {};
}

tl::unexpected<Error> CaptureReader::unreadable(std::uint64_t offset) const {
  return failure(ErrorKind::kFile, "read {} at {}: {}", path_, offset,
                 read_error_ != 0 ? std::strerror(read_error_) : "the file has shrunk");
}

Expected<void> CaptureReader::expect_read() const {
  if (read_error_ == 0) return {};
  return failure(ErrorKind::kFile, "read {}: {}", path_, std::strerror(read_error_));
}

// Returns how far to go on: over a chunk whose header holds, readable or not.
std::uint64_t CaptureReader::scan_chunk(const ChunkHeader& header) {
  const IndexEntry entry = entry_of(header);
  const std::uint64_t begin = header.file_offset;
  if (header.payload_bytes > kChunkPayloadMax ||
      !file_reaches(begin + sizeof(ChunkHeader) + header.payload_bytes)) {
    note(live_ ? unfinished_ : damage_, begin, file_bytes_ - begin,
         fmt::format("chunk of lane {} page {} cut off", header.lane, header.sequence));
    return chunk_span(0);
  }
  if (run_id_ == 0) run_id_ = header.run_id;
  if (header.run_id != run_id_) {
    note(damage_, begin, sizeof(ChunkHeader), "chunk of another run");
    return chunk_span(0);
  }
  if (!read(entry)) {
    note(damage_, begin, chunk_span(header.payload_bytes),
         fmt::format("payload of lane {} page {} damaged", header.lane, header.sequence));
    return chunk_span(header.payload_bytes);
  }
  chunks_.push_back(entry);
  return chunk_span(header.payload_bytes);
}

bool CaptureReader::has_shrunk() {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return false;
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  return std::exchange(file_bytes_, std::min(file_bytes_, bytes)) > bytes;
}

// A file that is being written grows while it is read.
bool CaptureReader::file_reaches(std::uint64_t end) {
  if (end > file_bytes_ && live_) {
    struct stat info {};
    if (::fstat(fd_.get(), &info) == 0)
      file_bytes_ = std::max(file_bytes_, static_cast<std::uint64_t>(info.st_size));
  }
  return end <= file_bytes_;
}

void CaptureReader::note(std::vector<Damage>& list, std::uint64_t offset, std::uint64_t bytes,
                         std::string what) {
  if (!list.empty()) {
    Damage& last = list.back();
    if (offset <= last.offset + last.bytes && what == last.what) {
      last.bytes = std::max(last.bytes, offset + bytes - last.offset);
      return;
    }
  }
  list.push_back({offset, bytes, std::move(what)});
}

Expected<std::span<const unsigned char>> CaptureReader::read(const IndexEntry& chunk) {
  if (chunk.payload_bytes > kChunkPayloadMax || chunk.payload_bytes > file_bytes_)
    return failure(ErrorKind::kDamage, "{}: impossible chunk at {}", path_, chunk.file_offset);
  buffer_.resize(chunk.payload_bytes);
  if (!read_at(chunk.file_offset + sizeof(ChunkHeader), buffer_.data(), chunk.payload_bytes)) {
    if (read_error_ != 0) return unreadable(chunk.file_offset);
    return failure(ErrorKind::kDamage, "{}: chunk at {} is cut off", path_, chunk.file_offset);
  }
  if (checksum(buffer_.data(), buffer_.size()) != chunk.payload_checksum)
    return failure(ErrorKind::kDamage, "{}: chunk at {} is damaged", path_, chunk.file_offset);
  return std::span<const unsigned char>(buffer_);
}

bool CaptureReader::read_begin(const IndexEntry& chunk, std::span<unsigned char> bytes) const {
  return bytes.size() <= chunk.payload_bytes &&
         read_at(chunk.file_offset + sizeof(ChunkHeader), bytes.data(), bytes.size());
}

const IndexEntry* CaptureReader::last_of(ChunkType type) const {
  const IndexEntry* newest = nullptr;
  for (const auto& chunk : chunks_)
    if (chunk.type == type && (newest == nullptr || chunk.sequence >= newest->sequence))
      newest = &chunk;
  return newest;
}

}  // namespace tidemark
