// SPDX-License-Identifier: Apache-2.0
// Recorder: writes fixed-size records into one lane. One thread writes, or all threads of a block
// together (write_many). No fence, atomic operation or commit word per record: the page is
// published with one release, and an unpublished page is read by its stamps.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tidemark/record/lane_writer.h"

namespace tidemark {

template <class R>
concept TraceRecord = std::is_trivially_copyable_v<R> && R::kBytes % kQuantumBytes == 0 &&
                      requires(const R& record, std::uint64_t* words) {
  { R::kStream } -> std::convertible_to<StreamId>;
  record.pack(words);
};

// Stores a record quantum by quantum, each under the page's stamp.
template <class R>
TM_DEVICE TM_INLINE void store_record(unsigned char* at, const R& record,
                                      std::uint64_t stamp_high) {
  constexpr std::uint64_t kBelowStamp = (std::uint64_t{1} << 48) - 1;
  std::uint64_t words[R::kBytes / 8];
  record.pack(words);
  auto* quanta = reinterpret_cast<SharedQuantum*>(at);
  for (std::uint32_t q = 0; q < R::kBytes / kQuantumBytes; ++q)
    quanta[q].store(words[2 * q], (words[2 * q + 1] & kBelowStamp) | stamp_high);
}

template <TraceRecord R, class Env>
class Recorder : public LaneWriter<Env> {
 public:
  Recorder() = default;
  TM_DEVICE Recorder(const RegionView* region, LaneIndex lane) : LaneWriter<Env>(region, lane) {
    CHECK(this->record_bytes_ == R::kBytes);
  }

  TM_DEVICE static std::uint64_t now() { return Env::now_ticks(); }

  // True if the record was accepted: it will be found, whatever happens next.
  TM_DEVICE TM_INLINE bool write(const R& record) {
    if (this->cursor_ == nullptr) return false;
    if (this->cursor_ == this->end_) [[unlikely]] {
      if (!this->turn_page()) return false;
    }
    store_record(this->cursor_, record, this->stamp_high_);
    this->cursor_ += R::kBytes;
    return true;
  }

  // Every thread of the block calls this with the same count; the recorder is shared by them.
  // make(i) gives record i. Returns how many were accepted.
  template <class Block, class Make>
  TM_DEVICE std::uint64_t write_many(Block& block, std::uint64_t count, const Make& make) {
    if (this->cursor_ == nullptr) return 0;
    std::uint64_t accepted = 0;
    for (std::uint64_t done = 0; done < count;) {
      block.barrier();  // the cursor below is the settled one
      if (this->cursor_ == this->end_) {
        block.barrier();  // everybody has seen that the page is full
        if (block.rank() == 0) turned_ = this->turn_page();
        block.barrier();
        if (!turned_) {
          ++done;
          continue;
        }
      }
      const auto room = static_cast<std::uint64_t>(this->end_ - this->cursor_) / R::kBytes;
      const std::uint64_t batch = room < count - done ? room : count - done;
      for (std::uint64_t i = block.rank(); i < batch; i += block.size())
        store_record(this->cursor_ + i * R::kBytes, make(done + i), this->stamp_high_);
      block.barrier();  // every store of the batch is issued before the page can be published
      if (block.rank() == 0) this->cursor_ += batch * R::kBytes;
      done += batch;
      accepted += batch;
    }
    block.barrier();
    return accepted;
  }

 private:
  bool turned_ = false;
};

// One thread is a block of one.
struct SoloBlock {
  TM_DEVICE std::uint32_t rank() const { return 0; }
  TM_DEVICE std::uint32_t size() const { return 1; }
  TM_DEVICE void barrier() const {}
};

}  // namespace tidemark
