// SPDX-License-Identifier: Apache-2.0
// Test support: a small capture written chunk by chunk, with the answer to each, and what must be
// in its file at any moment: every chunk that was accepted, whole and once; of the one that is
// being written all or nothing; nothing else.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tidemark/base/testing/temporary_directory.h"
#include "tidemark/capture/capture_reader.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/capture/testing/sample_pages.h"

namespace tidemark::storage {

enum class Way { kMapped, kByCall, kTurnsDirect };

inline const char* to_text(Way way) {
  return way == Way::kMapped ? "mapped" : way == Way::kByCall ? "by call" : "turns direct";
}

// Small steps of allocation, made when they are needed and by nobody else: the order of everything
// is the same in every run.
inline CaptureSpace::Options small_space(Way way) {
  CaptureSpace::Options options;
  options.step_bytes = 4096;
  options.ahead_min_bytes = 0;
  options.ahead_max_bytes = 0;
  options.reserve_bytes = 4096;
  options.may_map = way != Way::kByCall;
  if (way == Way::kTurnsDirect) options.direct_from_bytes = 3000;
  return options;
}

class CaptureScript {
 public:
  enum class State : std::uint8_t { kBegun, kAccepted, kRefused };
  using Content = std::vector<unsigned char>;
  struct Chunk {
    ChunkType type;
    Content content;
    State state = State::kBegun;
  };

  CaptureScript(std::string path, Way way) : path_(std::move(path)), way_(way) {}

  // Everything up to the end mark. What a call is answered decides what is refused.
  void write() {
    auto created = CaptureWriter::create(path_, samples::kRunId, small_space(way_));
    if (!created) return;
    created_ = true;
    CaptureWriter& writer = **created;
    put_text(ChunkType::kDescription, "what ran", [&](auto type, const std::string& text) {
      return writer.append_text(type, text).has_value();
    });
    put_pages(writer);
    put_text(ChunkType::kNames, std::string(300, 'n'), [&](auto type, const std::string& text) {
      return writer.append_text(type, text).has_value();
    });
    const auto closing = [&](auto type, const std::string& text) {
      return writer.append_closing_text(type, text).has_value();
    };
    put_text(ChunkType::kClock, "when", closing);
    put_text(ChunkType::kOutcome, std::string(700, 'o'), closing);
    Content lanes(2 * sizeof(LaneRecord));
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = static_cast<unsigned char>(i * 7 + 1);
    put(ChunkType::kLanes, lanes, [&] { return writer.append_lanes(lanes, false).has_value(); });
    error_ = writer.error();
    finished_ = writer.finish().has_value();
    synced_ = finished_ && writer.sync().has_value();
  }

  [[nodiscard]] const std::vector<Chunk>& chunks() const { return chunks_; }
  [[nodiscard]] bool created() const { return created_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::size_t refused() const { return count(State::kRefused); }
  [[nodiscard]] std::size_t accepted() const { return count(State::kAccepted); }

 private:
  [[nodiscard]] std::size_t count(State state) const {
    std::size_t count = 0;
    for (const Chunk& chunk : chunks_) count += chunk.state == state;
    return count;
  }
  template <class Append>
  void put(ChunkType type, Content content, const Append& append) {
    chunks_.push_back({type, std::move(content)});
    const bool taken = append();
    chunks_.back().state = taken ? State::kAccepted : State::kRefused;
  }
  template <class Append>
  void put_text(ChunkType type, const std::string& text, const Append& append) {
    put(type, Content(text.begin(), text.end()), [&] { return append(type, text); });
  }
  // Some pages are in this process's memory, some behind a port, as on the copied platform.
  void put_pages(CaptureWriter& writer) {
    for (std::uint64_t sequence = 1; sequence <= 8; ++sequence) {
      const auto page = samples::make_page(static_cast<std::uint32_t>(sequence % 2),
                                           (sequence + 1) / 2, 3 + 5 * (sequence % 4));
      auto delivery = page.delivery();
      std::vector<std::uint64_t> words(page.payload.size() / 8);
      std::memcpy(words.data(), page.payload.data(), page.payload.size());
      const auto port = RegionPort::over_memory(
          {reinterpret_cast<unsigned char*>(words.data()), page.payload.size()});
      if (sequence % 3 == 0) {
        delivery.payload = nullptr;
        delivery.port = &port;
      }
      put(ChunkType::kPage, page.bytes(), [&] { return writer.append(delivery); });
    }
  }

  const std::string path_;
  const Way way_;
  std::vector<Chunk> chunks_;
  bool created_ = false;
  bool finished_ = false;
  bool synced_ = false;
  std::string error_;
};

using Chunks = std::vector<CaptureScript::Chunk>;

inline bool is_mark(const IndexEntry& chunk) {
  return chunk.type == ChunkType::kIndex || chunk.type == ChunkType::kEnd;
}

// The content of every chunk of a reader, but for index and end mark. Damage is a failure.
inline std::multimap<CaptureScript::Content, ChunkType> found_in(CaptureReader& reader) {
  std::multimap<CaptureScript::Content, ChunkType> found;
  EXPECT_TRUE(reader.damage().empty()) << reader.damage().front().what;
  for (const IndexEntry& chunk : reader.chunks()) {
    if (is_mark(chunk)) continue;
    const auto bytes = reader.read(chunk);
    EXPECT_TRUE(bytes.has_value()) << "chunk at " << chunk.file_offset;
    if (bytes) found.emplace(CaptureScript::Content(bytes->begin(), bytes->end()), chunk.type);
  }
  return found;
}

// `chunks` as they stood when the file looked like this.
inline void expect_promised(std::multimap<CaptureScript::Content, ChunkType> found,
                            const Chunks& chunks) {
  for (const auto& chunk : chunks) {
    const auto place = found.find(chunk.content);
    if (chunk.state == CaptureScript::State::kAccepted) {
      ASSERT_NE(place, found.end())
          << "an accepted chunk of type " << static_cast<int>(chunk.type) << " is lost";
    }
    if (place == found.end()) continue;
    EXPECT_NE(chunk.state, CaptureScript::State::kRefused)
        << "a refused chunk of type " << static_cast<int>(chunk.type) << " is in the file";
    EXPECT_EQ(place->second, chunk.type);
    found.erase(place);
  }
  EXPECT_TRUE(found.empty()) << found.size() << " chunks that nobody wrote, or twice";
}

// What a reader finds at this moment, and what a recovery makes of it: everything that was there,
// one page more, an index that says the same.
inline void expect_valid(const std::string& path, const Chunks& chunks) {
  using Open = CaptureReader::Open;
  bool any = false;
  for (const auto& chunk : chunks) any |= chunk.state == CaptureScript::State::kAccepted;
  std::vector<IndexEntry> known;
  for (const auto how : {Open::kLive, Open::kIndexed, Open::kScan}) {
    auto reader = CaptureReader::open(path, how);
    ASSERT_TRUE(reader.has_value() || !any) << reader.error().message;
    if (!reader) continue;
    expect_promised(found_in(*reader), chunks);
    known = reader->chunks();
  }
  auto locked = lock_capture(path);
  ASSERT_TRUE(locked.has_value()) << locked.error().message;
  Chunks more = chunks;
  const auto page = samples::make_page(9, 77, 4);
  more.push_back({ChunkType::kPage, page.bytes(), CaptureScript::State::kAccepted});
  {
    auto writer =
        CaptureWriter::append_to(std::move(*locked), path, samples::kRunId, std::move(known));
    ASSERT_TRUE(writer.has_value()) << writer.error().message;
    ASSERT_TRUE((*writer)->append(page.delivery()));
    ASSERT_TRUE((*writer)->finish().has_value());
  }
  for (const auto how : {Open::kScan, Open::kIndexed}) {
    auto reader = CaptureReader::open(path, how);
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    EXPECT_EQ(reader->used_index(), how == Open::kIndexed);
    expect_promised(found_in(*reader), more);
  }
}

}  // namespace tidemark::storage
