// SPDX-License-Identifier: Apache-2.0
// A capture file as a list of chunks that can be changed and laid out again with every checksum
// right. It shares only the structs with the writer: what FORMAT.md says is done here once more.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/byte_source.h"
#include "tidemark/capture/chunk.h"
#include "tidemark/capture/lane_record.h"

namespace tidemark::fuzz {

// Whether the enumeration has a name for this type; the compiler writes an unknown one as a number.
template <ChunkType type>
constexpr bool has_name() {
  return std::string_view(__PRETTY_FUNCTION__).find("ChunkType::k") != std::string_view::npos;
}
template <std::size_t... types>
constexpr std::uint64_t count_types(std::index_sequence<types...>) {
  std::uint64_t last = 0;
  ((has_name<static_cast<ChunkType>(types)>() ? last = types : last), ...);
  return last + 1;
}
// One more than the last type there is, also of types that nobody has told the fuzzer about.
inline constexpr std::uint64_t kChunkTypes = count_types(std::make_index_sequence<64>());
static_assert(kChunkTypes > static_cast<std::uint64_t>(ChunkType::kSnapshot) && kChunkTypes < 64);

struct ChunkBytes {
  ChunkHeader header{};
  std::vector<unsigned char> payload;
};

struct CaptureBytes {
  std::vector<ChunkBytes> chunks;
  bool has_index = true;  // laid out with an index and an end mark that fit
};

// Takes every chunk whose header is where it says and whose payload is there; checksums are not
// looked at. Index and end mark are left out: they follow from the rest.
inline CaptureBytes parse_capture(std::span<const unsigned char> bytes) {
  CaptureBytes capture;
  for (std::size_t at = 0; at + sizeof(ChunkHeader) <= bytes.size();) {
    ChunkBytes chunk;
    std::memcpy(&chunk.header, bytes.data() + at, sizeof(ChunkHeader));
    const std::size_t left = bytes.size() - at - sizeof(ChunkHeader);
    if (chunk.header.magic != kChunkMagic || chunk.header.payload_bytes > left) {
      at += kChunkAlign;
      continue;
    }
    const auto* payload = bytes.data() + at + sizeof(ChunkHeader);
    chunk.payload.assign(payload, payload + chunk.header.payload_bytes);
    at += chunk_span(chunk.header.payload_bytes);
    if (chunk.header.type != ChunkType::kIndex && chunk.header.type != ChunkType::kEnd)
      capture.chunks.push_back(std::move(chunk));
  }
  return capture;
}

inline void put_chunk(std::vector<unsigned char>& file, ChunkHeader header,
                      std::span<const unsigned char> payload) {
  header.file_offset = file.size();
  header.payload_bytes = payload.size();
  header.payload_checksum = checksum(payload.data(), payload.size());
  header.header_checksum = checksum_of_header(header);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  file.insert(file.end(), bytes, bytes + sizeof(header));
  file.insert(file.end(), payload.begin(), payload.end());
  file.resize((file.size() + kChunkAlign - 1) / kChunkAlign * kChunkAlign);
}

inline std::vector<unsigned char> lay_out_capture(const CaptureBytes& capture) {
  std::vector<unsigned char> file;
  std::vector<IndexEntry> index;
  for (const auto& chunk : capture.chunks) {
    const std::size_t at = file.size();
    put_chunk(file, chunk.header, chunk.payload);
    ChunkHeader sealed;
    std::memcpy(&sealed, file.data() + at, sizeof(sealed));
    index.push_back({.file_offset = sealed.file_offset,
                     .payload_bytes = sealed.payload_bytes,
                     .payload_checksum = sealed.payload_checksum,
                     .sequence = sealed.sequence,
                     .lane = sealed.lane,
                     .epoch = sealed.epoch,
                     .type = sealed.type,
                     .flags = sealed.flags,
                     .reserved = 0});
  }
  if (!capture.has_index || capture.chunks.empty()) return file;
  ChunkHeader closing{.magic = kChunkMagic,
                      .type = ChunkType::kIndex,
                      .version_major = kFormatMajor,
                      .run_id = capture.chunks.front().header.run_id};
  const std::uint64_t index_offset = file.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(index.data());
  put_chunk(file, closing, {bytes, index.size() * sizeof(IndexEntry)});
  closing.type = ChunkType::kEnd;
  closing.sequence = index_offset;
  put_chunk(file, closing, {});
  return file;
}

inline void flip_bit(std::span<unsigned char> bytes, SeededBits& bits) {
  if (bytes.empty()) return;
  const std::uint64_t bit = bits.below(bytes.size() * 8);
  bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ 1u << (bit % 8));
}

// Writes one of the numbers at which something may break over a word of the payload.
inline void change_word(std::span<unsigned char> bytes, SeededBits& bits) {
  if (bytes.size() < 8) return flip_bit(bytes, bits);
  const std::uint64_t values[] = {
      0, 1, ~std::uint64_t{0}, bits.next(), bits.below(256), 1024, bits.below(65536)};
  const std::uint64_t value = values[bits.below(std::size(values))];
  const std::size_t size = bits.below(2) == 0 ? 8 : 4;
  // The first words are the header's, where most is decided.
  const std::size_t reach =
      bits.below(2) == 0 ? std::min<std::size_t>(bytes.size(), 256) : bytes.size();
  std::memcpy(bytes.data() + bits.below(reach / size) * size, &value, size);
}

// Another record size for one lane, told the same way by the lanes chunk and by every page.
inline void change_record_size(CaptureBytes& capture, SeededBits& bits) {
  const auto lane = static_cast<std::uint32_t>(bits.below(6));
  const auto record_bytes = static_cast<std::uint32_t>(bits.below(10) * 8);
  for (auto& chunk : capture.chunks) {
    auto& payload = chunk.payload;
    if (chunk.header.type == ChunkType::kLanes && payload.size() >= (lane + 1) * sizeof(LaneRecord))
      std::memcpy(payload.data() + lane * sizeof(LaneRecord) + offsetof(LanePlan, record_bytes),
                  &record_bytes, sizeof(record_bytes));
    if (chunk.header.type != ChunkType::kPage || chunk.header.lane != lane ||
        payload.size() < kPageHeaderBytes)
      continue;
    PageHeaderImage page;
    std::memcpy(&page, payload.data(), sizeof(page));
    page.record_bytes = record_bytes;
    if (page.record_count != kPageOpen && record_bytes != 0) {
      page.used_bytes -= page.used_bytes % record_bytes;
      payload.resize(std::min<std::size_t>(payload.size(), kPageHeaderBytes + page.used_bytes));
      page.record_count = page.used_bytes / record_bytes;
    }
    std::memcpy(payload.data(), &page, sizeof(page));
  }
}

inline bool is_text(const ChunkBytes& chunk) {
  const auto type = chunk.header.type;
  return type == ChunkType::kDescription || type == ChunkType::kNames ||
         type == ChunkType::kOutcome || type == ChunkType::kHang;
}

// Where a string begins that is a value or the first of an array; from somewhere in the text on.
inline std::size_t find_value(const std::vector<unsigned char>& text, SeededBits& bits) {
  unsigned char before = 0;  // the last character that is no space
  for (std::size_t at = text.empty() ? 0 : bits.below(text.size()); at < text.size(); ++at) {
    if (text[at] == '"' && (before == ':' || before == '[')) return at + 1;
    if (text[at] > ' ') before = text[at];
  }
  return text.size();
}

// Orders to a terminal in a text of a JSON chunk, as JSON writes them and as bytes.
inline void insert_orders(CaptureBytes& capture, SeededBits& bits) {
  static constexpr std::string_view kOrders[] = {"\\u001b]0;owned\\u0007",
                                                 "\\u001b[31m",
                                                 "\\nsound\\r",
                                                 "\\u009b[2J",
                                                 "\\u202e",
                                                 "\xc2\x9b[2J",
                                                 "\x9b[2J\xff",
                                                 "\x7f",
                                                 "\xe2\x80\xae"};
  std::vector<ChunkBytes*> texts;
  for (auto& chunk : capture.chunks)
    if (is_text(chunk)) texts.push_back(&chunk);
  if (texts.empty()) return;
  for (std::uint64_t times = 1 + bits.below(8); times > 0; --times) {
    auto& payload = texts[bits.below(texts.size())]->payload;
    const std::size_t at = find_value(payload, bits);
    if (at == payload.size()) continue;
    const std::string_view orders = kOrders[bits.below(std::size(kOrders))];
    payload.insert(payload.begin() + static_cast<std::ptrdiff_t>(at), orders.begin(), orders.end());
  }
}

// One change that a checksum would not notice: everything behind it is laid out as a writer would.
inline void change_capture(CaptureBytes& capture, SeededBits& bits) {
  auto& chunks = capture.chunks;
  if (chunks.empty()) return;
  const std::size_t which = bits.below(chunks.size());
  ChunkBytes& chunk = chunks[which];
  switch (bits.below(14)) {
    case 0:
      return flip_bit(chunk.payload, bits);
    case 1:
    case 2:
    case 3:
      return change_word(chunk.payload, bits);
    case 4:
      chunk.header.type = static_cast<ChunkType>(bits.below(kChunkTypes));
      return;
    case 5:
      chunk.header.lane = static_cast<std::uint32_t>(bits.below(8));
      return;
    case 6:
      chunk.header.sequence = bits.below(8);
      return;
    case 7:
      chunk.header.flags = static_cast<std::uint8_t>(bits.next());
      return;
    case 8:
      chunk.payload.resize(bits.below(chunk.payload.size() + 65));
      return;
    case 9:
      if (chunks.size() > 1) chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(which));
      return;
    case 10: {
      const ChunkBytes copy = chunk;
      chunks.insert(chunks.begin() + static_cast<std::ptrdiff_t>(bits.below(chunks.size())), copy);
      return;
    }
    case 11:
      return change_record_size(capture, bits);
    case 12:
      return insert_orders(capture, bits);
    default:
      if (bits.below(4) == 0) chunk.header.run_id = bits.below(3);
      capture.has_index = bits.below(2) == 0;
  }
}

}  // namespace tidemark::fuzz
