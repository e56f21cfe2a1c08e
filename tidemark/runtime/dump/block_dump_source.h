// SPDX-License-Identifier: Apache-2.0
// The frame of a dumped argument (dump_source.h), made by all threads of a block: neighbouring
// threads take neighbouring quanta of the payload, each keeps statistics of what it took, and they
// are joined before the trailer. Every thread has one of these, of the same argument, and calls the
// same functions.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/runtime/kernel_block.h"
#include "tidemark/runtime/tensor/tensor_gather.h"
#include "tidemark/runtime/tensor/tensor_stats.h"
#include "tidemark/schema/dump_frame.h"
#include "tidemark/transport/shared_word.h"

namespace tidemark {

template <KernelBlock B>
class BlockDumpSource {
 public:
  // `header` counts where it is thread 0's.
  TM_DEVICE BlockDumpSource(B& block, const DumpHeader& header, const unsigned char* memory,
                            const TensorView* view)
      : block_(block),
        header_(header),
        gather_(memory, view != nullptr ? *view : TensorView{}),
        stats_(header.dtype),
        tensor_bytes_(gather_.left_bytes()),
        payload_end_(kPayload + (view != nullptr ? header.payload_bytes : 0)),
        shared_end_(payload_end_ > kShared ? payload_end_ / kQuantumBytes * kQuantumBytes
                                           : kShared) {}

  // The next `length` bytes of the frame; whole quanta, but for its last ones. They are there for
  // others after a sync.
  TM_DEVICE TM_NOINLINE void store(SharedQuantum* quanta, std::uint64_t length) {
    const std::uint64_t begin = at_, end = at_ + length;
    at_ = end;
    const std::uint64_t first = begin > kShared ? begin : kShared;
    const std::uint64_t last = end < shared_end_ ? end : shared_end_;
    for (std::uint64_t at = first + block_.thread() * kQuantumBytes; at < last;
         at += block_.threads() * kQuantumBytes) {
      const std::uint64_t low = take_word(at);
      quanta[(at - begin) / kQuantumBytes].store(low, take_word(at + 8));
    }
    if (block_.thread() == 0) take_edges(begin, end);
    if (end > payload_end_ && !joined_) join();
    if (block_.thread() != 0) return;
    for (std::uint64_t at = begin; at < end; at += kQuantumBytes)
      if (at < first || at >= last)
        quanta[(at - begin) / kQuantumBytes].store(edge_word(at), edge_word(at + 8));
      else
        at = last - kQuantumBytes;
  }
  // Of all elements, without a frame.
  TM_DEVICE TM_NOINLINE DumpStats finish_stats() {
    if (!joined_) join();
    return trailer_;
  }

 private:
  using Stats = TensorStatsIn<1>;
  static constexpr std::uint64_t kPayload = sizeof(DumpHeader);
  // From here to shared_end_ quanta have nothing but payload.
  static constexpr std::uint64_t kShared = round_up(kPayload, kQuantumBytes);
  static_assert(kPayload % 8 == 0, "words of the payload are words of the frame");

  // The word at a place of the frame that is payload, and into the statistics.
  TM_DEVICE TM_INLINE std::uint64_t take_word(std::uint64_t at) {
    const std::uint64_t word = gather_.word_at(at - kPayload);
    count(&word, at - kPayload, sizeof(word));
    return word;
  }
  TM_DEVICE TM_INLINE void count(const void* bytes, std::uint64_t position, std::uint64_t size) {
    stats_.go_to(position / 8);
    stats_.add(static_cast<const unsigned char*>(bytes), size);
  }
  // The payload beside header and trailer, of thread 0.
  TM_DEVICE void take_edges(std::uint64_t begin, std::uint64_t end) {
    if (begin < kShared && kPayload < end && kPayload < payload_end_)
      take_edge(front_, kPayload, payload_end_ < kShared ? payload_end_ : kShared);
    if (begin <= shared_end_ && shared_end_ < end && shared_end_ < payload_end_)
      take_edge(back_, shared_end_, payload_end_);
  }
  TM_DEVICE void take_edge(unsigned char* to, std::uint64_t from, std::uint64_t end) {
    gather_.seek(from - kPayload);
    gather_.read(to, end - from);
    count(to, from - kPayload, end - from);
  }
  TM_DEVICE std::uint64_t edge_word(std::uint64_t at) const {
    std::uint64_t word = 0;
    if (at < kPayload) {
      ::memcpy(&word, reinterpret_cast<const unsigned char*>(&header_) + at, sizeof(word));
    } else if (at >= payload_end_ && (at - payload_end_) % 8 == 0) {
      if (joined_ && at - payload_end_ < sizeof(trailer_))
        ::memcpy(&word, reinterpret_cast<const unsigned char*>(&trailer_) + (at - payload_end_),
                 sizeof(word));
    } else {
      for (std::uint32_t i = 0; i < 8; ++i) word |= std::uint64_t{edge_byte(at + i)} << (8 * i);
    }
    return word;
  }
  TM_DEVICE unsigned char edge_byte(std::uint64_t at) const {
    if (at < payload_end_) return at < kShared ? front_[at - kPayload] : back_[at - shared_end_];
    const std::uint64_t behind = at - payload_end_;
    return behind < sizeof(trailer_) && joined_
               ? reinterpret_cast<const unsigned char*>(&trailer_)[behind]
               : 0;
  }

  struct Join {
    TM_DEVICE Stats operator()(const Stats& left, const Stats& right) const {
      return left.joined_with(right);
    }
  };
  TM_DEVICE TM_NOINLINE void join() {
    const std::uint64_t kept = payload_end_ - kPayload;
    if (kept < tensor_bytes_)  // whole words are kept then
      for (std::uint64_t at = kept + block_.thread() * 8; at < tensor_bytes_;
           at += block_.threads() * 8) {
        alignas(8) unsigned char bytes[8];
        gather_.seek(at);
        count(bytes, at, gather_.read(bytes, sizeof(bytes)));
      }
    trailer_ = block_.reduce(stats_, Join()).result();
    joined_ = true;
  }

  B& block_;
  DumpHeader header_;
  TensorGather gather_;
  Stats stats_;
  DumpStats trailer_;
  std::uint64_t tensor_bytes_;
  std::uint64_t payload_end_, shared_end_;  // in the frame
  std::uint64_t at_ = 0;                    // where the next store begins
  unsigned char front_[kShared - kPayload] = {};
  unsigned char back_[kQuantumBytes] = {};
  bool joined_ = false;
};

}  // namespace tidemark
