// SPDX-License-Identifier: Apache-2.0
// FrameWriter: writes frames of any size into a framed lane, as fragments over as many pages as it
// takes. A frame counts as one record: it is accepted when its last fragment is committed, or
// abandoned whole and counted once.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/record/lane_writer.h"
#include "tidemark/transport/fragment.h"

namespace tidemark {

// One piece of a frame's bytes; a frame is the pieces one after the other.
struct FramePiece {
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};

template <DeviceEnv Env>
class FrameWriter : public LaneWriter<Env> {
 public:
  FrameWriter() = default;
  TM_DEVICE FrameWriter(const RegionView* region, LaneIndex lane)
      : LaneWriter<Env>(region, lane, 0) {}

  TM_DEVICE bool write_frame(const FramePiece* pieces, std::uint32_t piece_count) {
    Source source{pieces, piece_count};
    return write_fragments(source, source.total_bytes());
  }
  // A frame whose bytes are made as they are needed: source.read(to, bytes) gives the next ones.
  template <class Made>
  TM_DEVICE bool write_from(Made& source, std::uint64_t total_bytes) {
    return write_fragments(source, total_bytes);
  }
  // … by all threads of a block, on the one writer of thread 0: source.store(quanta, bytes) stores
  // the next ones, each thread some of them.
  template <class B, class Made>
  TM_DEVICE TM_NOINLINE bool write_together(B& block, Made& source, std::uint64_t total_bytes) {
    for (std::uint64_t offset = 0;;) {
      Span span{};
      if (block.thread() == 0) span = begin_fragment(total_bytes, offset);
      span = block.broadcast(span);
      if (span.quanta == nullptr) return false;
      source.store(span.quanta, span.length);
      block.sync();  // every store is issued
      if (block.thread() == 0) end_fragment(span);
      offset += span.length;
      if (offset >= total_bytes) break;
    }
    return block.thread() != 0 || this->accept(total_bytes);
  }

  TM_DEVICE bool write_frame(const void* data, std::uint64_t bytes) {
    const FramePiece piece{data, bytes};
    return write_frame(&piece, 1);
  }

 private:
  struct Span {
    std::uint64_t total_bytes;
    std::uint64_t offset;
    std::uint64_t length;
    SharedQuantum* quanta;  // null: refused
  };

  // Walks the pieces in order, eight bytes at a time.
  struct Source {
    const FramePiece* pieces;
    std::uint32_t piece_count;
    std::uint32_t piece = 0;
    std::uint64_t at = 0;

    TM_DEVICE std::uint64_t total_bytes() const {
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < piece_count; ++i) sum += pieces[i].bytes;
      return sum;
    }
    TM_DEVICE std::uint64_t next_word(std::uint64_t left) {
      std::uint64_t word = 0;
      const std::uint64_t wanted = left < 8 ? left : 8;
      while (piece < piece_count && at == pieces[piece].bytes) next_piece();
      if (wanted == 8 && pieces[piece].bytes - at >= 8) {
        std::memcpy(&word, static_cast<const unsigned char*>(pieces[piece].data) + at, 8);
        at += 8;
        return word;
      }
      for (std::uint64_t i = 0; i < wanted; ++i) {
        while (at == pieces[piece].bytes) next_piece();
        const auto byte = static_cast<const unsigned char*>(pieces[piece].data)[at++];
        word |= std::uint64_t{byte} << (8 * i);
      }
      return word;
    }
    TM_DEVICE void next_piece() {
      ++piece;
      at = 0;
    }
  };

  template <class AnySource>
  TM_DEVICE TM_NOINLINE bool write_fragments(AnySource& source, std::uint64_t total_bytes) {
    std::uint64_t offset = 0;
    do {
      const Span span = begin_fragment(total_bytes, offset);
      if (span.quanta == nullptr) return false;
      store_bytes(source, span.quanta, span.length);
      end_fragment(span);
      offset += span.length;
    } while (offset < total_bytes);
    return this->accept(total_bytes);
  }

  TM_DEVICE std::uint64_t room() const {
    return static_cast<std::uint64_t>(this->end_ - this->cursor_);
  }

  TM_DEVICE static void store_bytes(Source& source, SharedQuantum* quanta, std::uint64_t length) {
    for (std::uint64_t at = 0; at < length; at += kQuantumBytes) {
      const std::uint64_t low = source.next_word(length - at);
      const std::uint64_t high = length - at > 8 ? source.next_word(length - at - 8) : 0;
      quanta[at / kQuantumBytes].store(low, high);
    }
  }
  // Through a little memory of its own that stays in the nearest cache.
  template <class Made>
  TM_DEVICE static void store_bytes(Made& source, SharedQuantum* quanta, std::uint64_t length) {
    alignas(16) unsigned char piece[kMadeBytes];
    for (std::uint64_t at = 0; at < length; at += kMadeBytes) {
      const std::uint64_t part = length - at < kMadeBytes ? length - at : kMadeBytes;
      if (at > 0) LaneWriter<Env>::reach(FaultPoint::kMidPayload);
      source.read(piece, part);
      for (std::uint64_t i = part; i % kQuantumBytes != 0; ++i) piece[i] = 0;
      for (std::uint64_t i = 0; i < part; i += kQuantumBytes) {
        std::uint64_t words[2];
        std::memcpy(words, piece + i, sizeof(words));
        quanta[(at + i) / kQuantumBytes].store(words[0], words[1]);
      }
    }
  }
  static constexpr std::uint64_t kMadeBytes = 4096;

  TM_DEVICE Span begin_fragment(std::uint64_t total_bytes, std::uint64_t offset) {
    Span span{.total_bytes = total_bytes, .offset = offset, .length = 0, .quanta = nullptr};
    if (!this->enabled()) return span;
    if (room() < kFragmentHeaderBytes + kQuantumBytes && !this->turn_page()) return span;
    const std::uint64_t left = total_bytes - offset;
    const std::uint64_t most = room() - kFragmentHeaderBytes;
    span.length = left < most ? left : most;
    auto* fragment = reinterpret_cast<FragmentHeader*>(this->cursor_);
    span.quanta = reinterpret_cast<SharedQuantum*>(this->cursor_ + kFragmentHeaderBytes);
    // Whatever an earlier filling left here must not commit the words that follow.
    fragment->commit.store_relaxed(0);
    // [commit cleared]: whoever sees one of these also sees the 0, or a later commit
    fragment->frame_number.store_release(this->next_number() + this->frames_ended_);
    fragment->total_bytes.store_release(total_bytes);
    fragment->offset.store_release(offset);
    return span;
  }
  TM_DEVICE void end_fragment(const Span& span) {
    auto* fragment = reinterpret_cast<FragmentHeader*>(this->cursor_);
    const bool first = span.offset == 0;
    const bool last = span.offset + span.length == span.total_bytes;
    if (first && this->page_header().first_frame_offset.load_own() == kNoFrame)
      // alone: readers of an open page take it from the fragments; [page sealed] publishes it
      this->page_header().first_frame_offset.store_release(
          static_cast<std::uint64_t>(this->cursor_ - this->begin_));
    this->reach(FaultPoint::kBeforeCommit);
    // [fragment committed]
    fragment->commit.store_release(encode_commit({.length = static_cast<std::uint32_t>(span.length),
                                                  .first = first,
                                                  .last = last,
                                                  .generation = this->generation_}));
    this->cursor_ += fragment_span(span.length);
    if (last) ++this->frames_ended_;
  }
};

}  // namespace tidemark
