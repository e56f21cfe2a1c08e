// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/capture_writer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tidemark/base/align.h"
#include "tidemark/capture/streaming_copy.h"

namespace tidemark {
namespace {

// The offset behind the last byte that is not zero, on a chunk boundary.
Expected<std::uint64_t> end_of_content(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return file_failure("stat", path);
  constexpr std::uint64_t kBlock = 64 * 1024;
  std::vector<unsigned char> block(kBlock);
  std::uint64_t end = static_cast<std::uint64_t>(info.st_size);
  while (end > 0) {
    const std::uint64_t from = (end - 1) / kBlock * kBlock;
    const std::uint64_t size = end - from;
    if (::pread(fd, block.data(), size, static_cast<off_t>(from)) != static_cast<ssize_t>(size))
      return file_failure("read", path);
    for (std::uint64_t i = size; i-- > 0;)
      if (block[i] != 0) return round_up(from + i + 1, kChunkAlign);
    end = from;
  }
  return 0;
}

// A chunk that was cut off still claims its place: what came to stand inside it would be passed
// over by a scan. Looks behind the last whole chunk only.
Expected<std::uint64_t> end_of_claims(int fd, const std::string& path, std::uint64_t from,
                                      std::uint64_t until) {
  std::uint64_t end = until;
  std::vector<ChunkHeader> block(1024);
  while (from < until) {
    const ssize_t got =
        ::pread(fd, block.data(), block.size() * sizeof(ChunkHeader), static_cast<off_t>(from));
    if (got < 0) return file_failure("read", path);
    const auto count = static_cast<std::uint64_t>(got) / sizeof(ChunkHeader);
    for (std::uint64_t i = 0; i < count; ++i, from += kChunkAlign) {
      const ChunkHeader& header = block[i];
      if (header.magic == kChunkMagic && header.file_offset == from &&
          header.payload_bytes <= kChunkPayloadMax &&
          header.header_checksum == checksum_of_header(header))
        end = std::max(end, from + chunk_span(header.payload_bytes));
    }
    if (count == 0) break;
  }
  return end;
}

}  // namespace

Expected<std::unique_ptr<CaptureWriter>> CaptureWriter::create(const std::string& path,
                                                               std::uint64_t run_id,
                                                               CaptureSpace::Options options) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.valid()) return file_failure("create", path);
  auto space = CaptureSpace::create(std::move(fd), path, 0, options);
  if (!space) return tl::unexpected(space.error());
  return std::unique_ptr<CaptureWriter>(new CaptureWriter(std::move(*space), path, run_id));
}

Expected<std::unique_ptr<CaptureWriter>> CaptureWriter::append_to(const std::string& path,
                                                                  std::uint64_t run_id,
                                                                  std::vector<IndexEntry> known) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid()) return file_failure("open", path);
  auto end = end_of_content(fd.get(), path);
  if (!end) return tl::unexpected(end.error());
  // A chunk may end in zeros; none may be written over.
  std::uint64_t end_of_known = 0;
  for (const auto& chunk : known)
    end_of_known = std::max(end_of_known, chunk.file_offset + chunk_span(chunk.payload_bytes));
  end = end_of_claims(fd.get(), path, end_of_known, std::max(*end, end_of_known));
  if (!end) return tl::unexpected(end.error());
  auto space = CaptureSpace::create(std::move(fd), path, *end, {});
  if (!space) return tl::unexpected(space.error());
  std::unique_ptr<CaptureWriter> writer(new CaptureWriter(std::move(*space), path, run_id));
  writer->text_count_ = known.size();
  writer->index_ = std::move(known);
  return writer;
}

bool CaptureWriter::append(const PageDelivery& page) {
  const std::uint64_t payload_bytes = kPageHeaderBytes + page.payload_bytes;
  const auto claim = space_->claim_page(chunk_span(payload_bytes));
  if (claim.bytes == nullptr && !claim.direct) return false;
  Chunk chunk{.type = ChunkType::kPage,
              .flags = static_cast<std::uint8_t>((page.recovered ? kFlagRecovered : 0) |
                                                 (page.open ? kFlagOpen : 0)),
              .lane = page.header.lane,
              .epoch = page.header.epoch,
              .sequence = page.header.sequence,
              .payload_bytes = payload_bytes};
  if (claim.direct) return append_direct(page, claim, chunk);
  unsigned char* to = claim.bytes + sizeof(ChunkHeader);
  if (page.payload != nullptr) {
    chunk.payload_checksum =
        copy_with_checksum(to, &page.header, kPageHeaderBytes, page.payload, page.payload_bytes);
  } else {
    std::memcpy(to, &page.header, kPageHeaderBytes);
    page.port->read(page.payload_offset, to + kPageHeaderBytes, page.payload_bytes);
    chunk.payload_checksum = checksum(to, payload_bytes);
  }
  seal(claim, chunk);
  return true;
}

// From where the page stands, if this process sees it; else from a copy.
bool CaptureWriter::append_direct(const PageDelivery& page, const CaptureSpace::Claim& claim,
                                  Chunk chunk) {
  thread_local std::vector<unsigned char> copied;
  const unsigned char* payload = page.payload;
  if (payload == nullptr) {
    if (copied.size() < page.payload_bytes) copied.resize(page.payload_bytes);
    page.port->read(page.payload_offset, copied.data(), page.payload_bytes);
    payload = copied.data();
  }
  const std::span<const unsigned char> parts[] = {
      {reinterpret_cast<const unsigned char*>(&page.header), kPageHeaderBytes},
      {payload, page.payload_bytes}};
  chunk.payload_checksum = checksum(parts[0], parts[1]);
  const ChunkHeader header = header_of(claim, chunk);
  if (!space_->write_direct(claim, chunk_span(chunk.payload_bytes),
                            {reinterpret_cast<const unsigned char*>(&header), sizeof(header)},
                            parts[0], parts[1]))
    return false;
  note(claim, chunk);
  return true;
}

ChunkHeader CaptureWriter::header_of(const CaptureSpace::Claim& claim, const Chunk& chunk) const {
  ChunkHeader header{.magic = kChunkMagic,
                     .type = static_cast<std::uint16_t>(chunk.type),
                     .version_major = kFormatMajor,
                     .flags = chunk.flags,
                     .run_id = run_id_,
                     .lane = chunk.lane,
                     .epoch = chunk.epoch,
                     .sequence = chunk.sequence,
                     .payload_bytes = chunk.payload_bytes,
                     .file_offset = claim.offset,
                     .payload_checksum = chunk.payload_checksum,
                     .header_checksum = 0};
  header.header_checksum = checksum_of_header(header);
  return header;
}

void CaptureWriter::seal(const CaptureSpace::Claim& claim, const Chunk& chunk) {
  const ChunkHeader header = header_of(claim, chunk);
  // The first word last: a kill in between leaves a place that is still unsealed.
  std::memcpy(claim.bytes + 8, reinterpret_cast<const unsigned char*>(&header) + 8,
              sizeof(header) - 8);
  std::uint64_t first_word = 0;
  std::memcpy(&first_word, &header, 8);
  reinterpret_cast<SharedWord<std::uint64_t>*>(claim.bytes)->store_release(first_word);
  note(claim, chunk);
}

void CaptureWriter::note(const CaptureSpace::Claim& claim, const Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  index_.push_back({.file_offset = claim.offset,
                    .payload_bytes = chunk.payload_bytes,
                    .payload_checksum = chunk.payload_checksum,
                    .sequence = chunk.sequence,
                    .lane = chunk.lane,
                    .epoch = chunk.epoch,
                    .type = static_cast<std::uint16_t>(chunk.type),
                    .flags = chunk.flags,
                    .reserved = 0});
}

Expected<void> CaptureWriter::append_text(ChunkType type, std::string_view text) {
  const auto claim = space_->claim(chunk_span(text.size()));
  if (claim.bytes == nullptr) return failure(ErrorKind::kFile, "{}", space_->error());
  std::memcpy(claim.bytes + sizeof(ChunkHeader), text.data(), text.size());
  seal(claim, {.type = type,
               .sequence = ++text_count_,
               .payload_bytes = text.size(),
               .payload_checksum = checksum(text.data(), text.size())});
  return {};
}

Expected<void> CaptureWriter::append_closing_text(ChunkType type, std::string_view text) {
  return append_closing({.type = type, .sequence = ++text_count_, .payload_bytes = text.size()},
                        text.data());
}

Expected<void> CaptureWriter::append_closing(Chunk chunk, const void* payload) {
  const auto claim = space_->claim_closing(chunk_span(chunk.payload_bytes));
  if (claim.bytes == nullptr) return failure(ErrorKind::kFile, "{}", space_->error());
  if (chunk.payload_bytes > 0)
    std::memcpy(claim.bytes + sizeof(ChunkHeader), payload, chunk.payload_bytes);
  chunk.payload_checksum = checksum(payload, chunk.payload_bytes);
  seal(claim, chunk);
  return {};
}

Expected<void> CaptureWriter::append_lanes(const std::vector<unsigned char>& lanes,
                                           bool recovered) {
  return append_closing({.type = ChunkType::kLanes,
                         .flags = recovered ? kFlagRecovered : std::uint8_t{0},
                         .payload_bytes = lanes.size()},
                        lanes.data());
}

Expected<void> CaptureWriter::finish() {
  // Drain threads seal in the order they finish; the index stands in file order.
  std::vector<IndexEntry> index = index_;
  std::sort(index.begin(), index.end(),
            [](const IndexEntry& a, const IndexEntry& b) { return a.file_offset < b.file_offset; });
  auto written = append_closing(
      {.type = ChunkType::kIndex, .payload_bytes = index.size() * sizeof(IndexEntry)},
      index.data());
  if (written) {
    const std::uint64_t index_offset = index_.back().file_offset;
    constexpr std::array<unsigned char, 1> kNothing{};
    written = append_closing({.type = ChunkType::kEnd, .sequence = index_offset}, kNothing.data());
  }
  auto cut = space_->cut();
  return written ? cut : written;
}

std::uint64_t CaptureWriter::page_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& chunk : index_)
    if (chunk.type == static_cast<std::uint16_t>(ChunkType::kPage)) bytes += chunk.payload_bytes;
  return bytes;
}

}  // namespace tidemark
