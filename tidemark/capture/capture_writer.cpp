// SPDX-License-Identifier: Apache-2.0
#include "tidemark/capture/capture_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tidemark/base/align.h"
#include "tidemark/base/fault_plan.h"
#include "tidemark/base/file_mode.h"
#include "tidemark/base/whole_io.h"
#include "tidemark/capture/streaming_copy.h"

namespace tidemark {
namespace {

// The offset after the last byte that is not zero, on a chunk boundary.
Expected<std::uint64_t> end_of_content(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return file_failure("stat", path);
  constexpr std::uint64_t kBlock = 64 * 1024;
  std::vector<unsigned char> block(kBlock);
  std::uint64_t end = static_cast<std::uint64_t>(info.st_size);
  while (end > 0) {
    const std::uint64_t from = (end - 1) / kBlock * kBlock;
    const std::uint64_t size = end - from;
    if (read_at(fd, from, block.data(), size) != static_cast<ssize_t>(size))
      return file_failure("read", path);
    for (std::uint64_t i = size; i-- > 0;)
      if (block[i] != 0) return round_up(from + i + 1, kChunkAlign);
    end = from;
  }
  return 0;
}

CaptureSpace::Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

// True also where the file system knows no locks: there nothing can be said.
bool take_lock(int fd) {
  return uninterrupted([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0 || errno != EWOULDBLOCK;
}

// A chunk that was cut off still claims its place: a scan would skip anything written inside it.
// Looks after the last whole chunk only.
Expected<std::uint64_t> end_of_claims(int fd, const std::string& path, std::uint64_t from,
                                      std::uint64_t until) {
  std::uint64_t end = until;
  std::vector<ChunkHeader> block(1024);
  while (from < until) {
    const ssize_t got = read_at(fd, from, block.data(), block.size() * sizeof(ChunkHeader));
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

Expected<UniqueFd> lock_capture(const std::string& path) {
  UniqueFd fd(uninterrupted(
      [&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }));
  if (!fd.valid()) return file_failure("open", path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return file_failure("stat", path);
  if (!S_ISREG(info.st_mode)) return failure(ErrorKind::kUsage, "{} is not a file", path);
  if (!take_lock(fd.get()))
    return failure(ErrorKind::kUsage, "{} is being written by another process", path);
  return fd;
}

bool is_being_written(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return fd.valid() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Expected<std::unique_ptr<CaptureWriter>> CaptureWriter::create(const std::string& path,
                                                               std::uint64_t run_id,
                                                               CaptureSpace::Options options) {
  UniqueFd fd = create_file(path, O_RDWR | O_EXCL);
  if (!fd.valid()) return file_failure("create", path);
  const auto undo = [&](const Error& error) {
    ::unlink(path.c_str());
    return tl::unexpected(error);
  };
  if (!take_lock(fd.get())) return undo(file_failure("lock", path).value());
  auto space = CaptureSpace::create(std::move(fd), path, 0, options);
  if (!space) return undo(space.error());
  return std::unique_ptr<CaptureWriter>(new CaptureWriter(std::move(*space), run_id));
}

Expected<std::unique_ptr<CaptureWriter>> CaptureWriter::append_to(UniqueFd locked,
                                                                  const std::string& path,
                                                                  std::uint64_t run_id,
                                                                  std::vector<IndexEntry> known,
                                                                  CaptureSpace::Options options) {
  TM_TRY(std::uint64_t end, end_of_content(locked.get(), path));
  // A chunk may end in zeros; none may be written over.
  std::uint64_t end_of_known = 0;
  for (const auto& chunk : known)
    end_of_known = std::max(end_of_known, chunk.file_offset + chunk_span(chunk.payload_bytes));
  TM_TRY(end, end_of_claims(locked.get(), path, end_of_known, std::max(end, end_of_known)));
  TM_TRY(auto space, CaptureSpace::create(std::move(locked), path, end, options));
  std::unique_ptr<CaptureWriter> writer(new CaptureWriter(std::move(space), run_id));
  writer->text_count_ = known.size();
  writer->index_ = std::move(known);
  return writer;
}

bool CaptureWriter::refuse(std::uint64_t bytes) {
  fault_plan.note_refusal();
  refused_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return false;
}

bool CaptureWriter::append(const PageDelivery& page) {
  const std::uint64_t payload_bytes = kPageHeaderBytes + page.payload_bytes;
  const auto claim = space_->claim_page(chunk_span(payload_bytes));
  ChunkHeader chunk{.type = ChunkType::kPage,
                    .flags = static_cast<std::uint8_t>((page.recovered ? kFlagRecovered : 0) |
                                                       (page.open ? kFlagOpen : 0)),
                    .lane = page.header.lane,
                    .epoch = page.header.epoch,
                    .sequence = page.header.sequence,
                    .payload_bytes = payload_bytes};
  if (claim.way == CaptureSpace::Way::kRefused) return refuse(chunk_span(payload_bytes));
  if (claim.way == CaptureSpace::Way::kByCall)
    return append_by_call(page, claim, chunk) || refuse(claim.size);
  unsigned char* to = claim.bytes + sizeof(ChunkHeader);
  if (page.payload != nullptr) {
    chunk.payload_checksum =
        copy_with_checksum(to, &page.header, kPageHeaderBytes, page.payload, page.payload_bytes);
  } else {
    std::memcpy(to, &page.header, kPageHeaderBytes);
    if (!page.port->read(page.payload_offset, to + kPageHeaderBytes, page.payload_bytes))
      return refuse(claim.size);  // never sealed: nothing is there
    chunk.payload_checksum = checksum(to, payload_bytes);
  }
  seal(claim, chunk);
  return true;
}

// From where the page is, if this process sees it; else from a copy.
bool CaptureWriter::append_by_call(const PageDelivery& page, const CaptureSpace::Claim& claim,
                                   ChunkHeader chunk) {
  thread_local std::vector<unsigned char> copied;
  const unsigned char* payload = page.payload;
  if (payload == nullptr) {
    if (copied.size() < page.payload_bytes) copied.resize(page.payload_bytes);
    if (!page.port->read(page.payload_offset, copied.data(), page.payload_bytes)) return false;
    payload = copied.data();
  }
  return put_by_call(claim, chunk,
                     {reinterpret_cast<const unsigned char*>(&page.header), kPageHeaderBytes},
                     {payload, page.payload_bytes});
}

bool CaptureWriter::put_by_call(const CaptureSpace::Claim& claim, ChunkHeader chunk, Bytes first,
                                Bytes second) {
  chunk.payload_checksum = checksum(first, second);
  const ChunkHeader header = at(claim, chunk);
  if (!space_->write(claim, {reinterpret_cast<const unsigned char*>(&header), sizeof(header)},
                     first, second))
    return false;
  note(header);
  return true;
}

bool CaptureWriter::put(const CaptureSpace::Claim& claim, ChunkHeader chunk, Bytes payload) {
  if (claim.way == CaptureSpace::Way::kRefused) return false;
  if (claim.way == CaptureSpace::Way::kByCall) return put_by_call(claim, chunk, payload, {});
  if (!payload.empty())
    std::memcpy(claim.bytes + sizeof(ChunkHeader), payload.data(), payload.size());
  chunk.payload_checksum = checksum(payload, {});
  seal(claim, chunk);
  return true;
}

ChunkHeader CaptureWriter::at(const CaptureSpace::Claim& claim, ChunkHeader chunk) const {
  chunk.run_id = run_id_;
  chunk.file_offset = claim.offset;
  chunk.header_checksum = checksum_of_header(chunk);
  return chunk;
}

void CaptureWriter::seal(const CaptureSpace::Claim& claim, const ChunkHeader& chunk) {
  const ChunkHeader header = at(claim, chunk);
  // The first word last: a kill in between leaves a place that is still unsealed.
  std::memcpy(claim.bytes + 8, reinterpret_cast<const unsigned char*>(&header) + 8,
              sizeof(header) - 8);
  std::uint64_t first_word = 0;
  std::memcpy(&first_word, &header, 8);
  // alone: whoever reads comes by the file, and believes only a header whose checksum is right
  reinterpret_cast<SharedWord<std::uint64_t>*>(claim.bytes)->store_release(first_word);
  note(header);
}

void CaptureWriter::note(const ChunkHeader& header) {
  const std::lock_guard lock(mutex_);
  index_.push_back(entry_of(header));
}

Expected<void> CaptureWriter::append_text(ChunkType type, std::string_view text) {
  const auto claim = space_->claim(chunk_span(text.size()));
  if (put(claim, {.type = type, .sequence = ++text_count_, .payload_bytes = text.size()},
          bytes_of(text)))
    return {};
  refuse(chunk_span(text.size()));
  return failure(ErrorKind::kFile, "{}", space_->error());
}

Expected<void> CaptureWriter::append_closing_text(ChunkType type, std::string_view text) {
  return append_closing({.type = type, .sequence = ++text_count_, .payload_bytes = text.size()},
                        bytes_of(text));
}

Expected<void> CaptureWriter::append_closing(ChunkHeader chunk, Bytes payload) {
  const std::uint64_t bytes = chunk_span(chunk.payload_bytes);
  for (const auto place : {CaptureSpace::Place::kEnd, CaptureSpace::Place::kReserve})
    if (put(space_->claim_closing(bytes, place), chunk, payload)) return {};
  refuse(bytes);
  return failure(ErrorKind::kFile, "{}", space_->refusal_of(bytes));
}

Expected<void> CaptureWriter::append_lanes(Bytes lanes, bool recovered) {
  return append_closing({.type = ChunkType::kLanes,
                         .flags = recovered ? kFlagRecovered : std::uint8_t{0},
                         .sequence = ++text_count_,
                         .payload_bytes = lanes.size()},
                        lanes);
}

// Only at the end of the file: from there a reader finds it.
bool CaptureWriter::append_index() {
  // Drain threads seal in the order they finish; the index is in file order.
  std::vector<IndexEntry> index = index_;
  std::ranges::sort(index, {}, &IndexEntry::file_offset);
  const std::uint64_t bytes = index.size() * sizeof(IndexEntry);
  if (bytes > kChunkPayloadMax) return false;
  const auto claim = space_->claim_closing(chunk_span(bytes), CaptureSpace::Place::kEnd);
  if (!put(claim, {.type = ChunkType::kIndex, .payload_bytes = bytes},
           {reinterpret_cast<const unsigned char*>(index.data()), bytes}))
    return false;
  return put(space_->claim_closing(chunk_span(0), CaptureSpace::Place::kEnd),
             {.type = ChunkType::kEnd, .sequence = claim.offset}, {});
}

Expected<void> CaptureWriter::finish() {
  static_cast<void>(append_index());
  return space_->cut();
}

std::uint64_t CaptureWriter::page_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& chunk : index_)
    if (chunk.type == ChunkType::kPage) bytes += chunk.payload_bytes;
  return bytes;
}

}  // namespace tidemark
