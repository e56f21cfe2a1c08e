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
#include "tidemark/schema/element_type.h"
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
    if (first < last)
      with_element_type(header_.dtype, [&](auto type) {
        store_shared<decltype(type)>(quanta, begin, first, last);
      });
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

  // Quanta of the frame from first to last, which are nothing but payload; with statistics in
  // registers.
  template <class T>
  TM_DEVICE TM_INLINE void store_shared(SharedQuantum* quanta, std::uint64_t begin,
                                        std::uint64_t first, std::uint64_t last) {
    Stats mine = stats_;
    const unsigned char* together = gather_.together();
    for (std::uint64_t at = first + block_.thread() * kQuantumBytes; at < last;
         at += block_.threads() * kQuantumBytes) {
      const std::uint64_t position = at - kPayload;
      const std::uint64_t low = word_at(together, position);
      const std::uint64_t high = word_at(together, position + 8);
      quanta[(at - begin) / kQuantumBytes].store(low, high);
      mine.template add_word<T>(low, position / 8);
      mine.template add_word<T>(high, position / 8 + 1);
    }
    stats_ = mine;
  }
  // Of whole words that nobody keeps.
  template <class T>
  TM_DEVICE TM_INLINE void count_words(std::uint64_t first, std::uint64_t last) {
    Stats mine = stats_;
    const unsigned char* together = gather_.together();
    for (std::uint64_t at = first + block_.thread() * 8; at < last; at += block_.threads() * 8)
      mine.template add_word<T>(word_at(together, at), at / 8);
    stats_ = mine;
  }
  TM_DEVICE TM_INLINE std::uint64_t word_at(const unsigned char* together, std::uint64_t position) {
    if (together == nullptr) return gather_.word_at(position);
    std::uint64_t word = 0;
    ::memcpy(&word, __builtin_assume_aligned(together + position, 8), sizeof(word));
    return word;
  }
  // The payload beside header and trailer, of thread 0.
  TM_DEVICE void take_edges(std::uint64_t begin, std::uint64_t end) {
    if (begin < kShared && kPayload < end && kPayload < payload_end_)
      take_edge(front_, 0, (payload_end_ < kShared ? payload_end_ : kShared) - kPayload);
    if (begin <= shared_end_ && shared_end_ < end && shared_end_ < payload_end_)
      take_edge(back_, shared_end_ - kPayload, payload_end_ - kPayload);
  }
  TM_DEVICE void take_edge(unsigned char* to, std::uint64_t from, std::uint64_t end) {
    gather_.seek(from);
    gather_.read(to, end - from);
    stats_.go_to(from / 8);
    stats_.add(to, end - from);
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
    if (kept < tensor_bytes_) {  // whole words are kept then
      const std::uint64_t whole = tensor_bytes_ / 8 * 8;
      with_element_type(header_.dtype,
                        [&](auto type) { count_words<decltype(type)>(kept, whole); });
      unsigned char rest[8];
      if (block_.thread() == 0 && whole < tensor_bytes_) take_edge(rest, whole, tensor_bytes_);
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
