// SPDX-License-Identifier: Apache-2.0
// The capture's byte layout: chunks on 64-byte boundaries. FORMAT.md beside this file is the
// description for other tools; the two change together.
#pragma once

#include "tidemark/base/needs_cpp20.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tidemark {

inline constexpr std::uint32_t kChunkMagic = 0x45444954;  // "TIDE"
inline constexpr std::uint8_t kFormatMajor = 1;
inline constexpr std::uint8_t kFormatMinor = 1;  // said by the description; FORMAT.md lists them
inline constexpr std::uint32_t kChunkAlign = 64;
inline constexpr std::uint64_t kChunkPayloadMax = std::uint64_t{1} << 32;

enum class ChunkType : std::uint16_t {
  kDescription = 1,  // JSON: what ran, schemas, lanes; always first
  kPage = 2,         // a page as it came from the device
  kNames = 3,        // JSON: hash to text
  kClock = 4,        // JSON: launch, rate, anchors
  kLanes = 5,        // the lanes' words at the end of the run
  kIndex = 6,        // IndexEntry of every chunk before it
  kEnd = 7,          // no payload; sequence is the offset of the index
  kOutcome = 8,      // JSON: how the run ended
  kHang = 9,         // JSON: the state of the runtime when the run was stopped
  kSnapshot = 10,    // a dump frame that the host made: what a task had written when it was stopped
};

inline constexpr std::uint8_t kFlagRecovered = 1;
// A page that its producer had not sealed when it was taken. Another chunk of the same page that
// has more payload replaces it.
inline constexpr std::uint8_t kFlagOpen = 2;

struct ChunkHeader {
  std::uint32_t magic = kChunkMagic;
  ChunkType type{};
  std::uint8_t version_major = kFormatMajor;
  std::uint8_t flags = 0;
  std::uint64_t run_id = 0;
  std::uint32_t lane = 0;
  std::uint32_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t file_offset = 0;  // of this header: a chunk copied elsewhere is not one
  std::uint64_t payload_checksum = 0;
  std::uint64_t header_checksum = 0;  // of the 56 bytes before it
};
static_assert(sizeof(ChunkHeader) == 64 && std::is_trivially_copyable_v<ChunkHeader>);
static_assert(offsetof(ChunkHeader, header_checksum) == 56);

// A line of the index, and how the reader names a chunk.
struct IndexEntry {
  std::uint64_t file_offset;
  std::uint64_t payload_bytes;
  std::uint64_t payload_checksum;
  std::uint64_t sequence;
  std::uint32_t lane;
  std::uint32_t epoch;
  ChunkType type;
  std::uint16_t flags;
  std::uint32_t reserved;
};
static_assert(sizeof(IndexEntry) == 48 && std::is_trivially_copyable_v<IndexEntry>);

constexpr IndexEntry entry_of(const ChunkHeader& header) {
  return {.file_offset = header.file_offset,
          .payload_bytes = header.payload_bytes,
          .payload_checksum = header.payload_checksum,
          .sequence = header.sequence,
          .lane = header.lane,
          .epoch = header.epoch,
          .type = header.type,
          .flags = header.flags,
          .reserved = 0};
}

std::uint64_t checksum(const void* data, std::size_t bytes);
// Of both in a row.
std::uint64_t checksum(std::span<const unsigned char> first, std::span<const unsigned char> second);
std::uint64_t checksum_of_header(const ChunkHeader& header);

// The distance from a chunk's header to the next chunk's.
constexpr std::uint64_t chunk_span(std::uint64_t payload_bytes) {
  return (sizeof(ChunkHeader) + payload_bytes + kChunkAlign - 1) / kChunkAlign * kChunkAlign;
}

}  // namespace tidemark
