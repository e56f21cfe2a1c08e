// SPDX-License-Identifier: Apache-2.0
// Recorder: writes fixed-size records into one lane; Pen is its fast side. One thread writes, or
// all threads of a block together (write_many). No fence, atomic operation or commit word per
// record: the page is published with one release, and an unpublished page is read by its stamps.
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

// Stores one of a record's quanta.
template <class R>
TM_DEVICE TM_INLINE void store_quantum(unsigned char* at, const R& record, std::uint32_t part,
                                       std::uint64_t stamp_high) {
  std::uint64_t words[R::kBytes / 8];
  record.pack(words);
  std::uint64_t low = words[0], high = words[1];
  for (std::uint32_t q = 1; q < R::kBytes / kQuantumBytes; ++q) {  // no run-time index: registers
    low = part == q ? words[2 * q] : low;
    high = part == q ? words[2 * q + 1] : high;
  }
  reinterpret_cast<SharedQuantum*>(at)[part].store_stamped(low, high, stamp_high);
}

// Stores a record quantum by quantum, each under the page's stamp.
template <class R>
TM_DEVICE TM_INLINE void store_record(unsigned char* at, const R& record,
                                      std::uint64_t stamp_high) {
  std::uint64_t words[R::kBytes / 8];
  record.pack(words);
  auto* quanta = reinterpret_cast<SharedQuantum*>(at);
  for (std::uint32_t q = 0; q < R::kBytes / kQuantumBytes; ++q)
    quanta[q].store_stamped(words[2 * q], words[2 * q + 1], stamp_high);
}

// The threads that write one lane together, or run one kernel (runtime/kernel_block.h). thread() is
// which of them this is, threads() how many there are; kThreads is the same where it is known when
// compiling, else 0. Nobody leaves sync() before all have come. broadcast gives everybody the value
// of thread 0, of any type that memcpy may copy. All threads call sync() and broadcast() equally
// often.
template <class B>
concept Block = requires(B& block, std::uint64_t value) {
  { B::kThreads } -> std::convertible_to<std::uint32_t>;
  { block.thread() } -> std::same_as<std::uint32_t>;
  { block.threads() } -> std::same_as<std::uint32_t>;
  block.sync();
  { block.broadcast(value) } -> std::same_as<std::uint64_t>;
};

// One thread is a block of one.
struct SoloBlock {
  static constexpr std::uint32_t kThreads = 1;
  TM_DEVICE static constexpr std::uint32_t thread() { return 0; }
  TM_DEVICE static constexpr std::uint32_t threads() { return 1; }
  TM_DEVICE static void sync() {}
  template <class T>
  TM_DEVICE TM_INLINE static T broadcast(const T& value) {
    return value;
  }
};
static_assert(Block<SoloBlock>);

template <TraceRecord R, DeviceEnv Env>
class Recorder;

// A recorder's hot state by value, so that a loop keeps it in registers: where the next record
// goes, how many still fit into the page, and the stamp. While a pen is out, the recorder is
// written only through it; the pen's end gives the state back. Every thread of a block holds its
// own recorder and pen; thread 0's recorder has the lane, and all call the same functions with the
// same counts.
//
// Where a branch is slow, a pen of one thread stores first and looks afterwards whether that was
// the last place of the page: the answer is there by then. Without a page the next place is the
// recorder's spare one; what is stored there is stored again, where it belongs, or refused.
template <TraceRecord R, DeviceEnv Env, Block B = SoloBlock>
class Pen {
 public:
  TM_DEVICE explicit Pen(Recorder<R, Env>& recorder, B block = {})
      : recorder_(&recorder), block_(block) {
    take();
    rest();
  }
  TM_DEVICE ~Pen() {
    block_.sync();  // every store is issued
    if (block_.thread() != 0) return;
    rouse();
    recorder_->cursor_ = cursor_;
    recorder_->watch_age();
  }
  Pen(const Pen&) = delete;
  Pen& operator=(const Pen&) = delete;

  // One thread only. True if the record was accepted: it will be found, whatever happens next.
  TM_DEVICE TM_INLINE bool write(const R& record) {
    if constexpr (kLooksLate) {
      unsigned char* const next = cursor_ + R::kBytes;
      const bool was_last = low_of(next) == end_low_;
      store_record(cursor_, record, stamp_high_);
      cursor_ = next;
      if (!was_last) [[likely]]
        return true;
      const Place place = come_to_end(recorder_, next);
      cursor_ = place.cursor;
      stamp_high_ = place.stamp_high;
      end_low_ = place.end_low;
      return place.accepted != 0;
    } else {
      if (room_ == 0) [[unlikely]] {
        if (!turn_page()) return false;
      }
      --room_;
      store_record(cursor_, record, stamp_high_);
      cursor_ += R::kBytes;
      return true;
    }
  }

  // As the recorder's. One thread of a block only.
  TM_DEVICE TM_INLINE void at(const Name& name, std::uint64_t number = 0) {
    recorder_->at(name, number);
  }
  TM_DEVICE TM_INLINE void waits_for(const Name& name, std::uint64_t number = 0) {
    recorder_->waits_for(name, number);
  }

  // make(i) gives record i. Returns how many were accepted.
  template <class Make>
  TM_DEVICE std::uint64_t write_many(std::uint64_t count, const Make& make) {
    rouse();
    std::uint64_t accepted = 0;
    if (cursor_ == nullptr) count = 0;
    for (std::uint64_t done = 0; done < count;) {
      if (room_ == 0 && !turn_page()) {
        ++done;
        continue;
      }
      const std::uint32_t batch =
          room_ < count - done ? room_ : static_cast<std::uint32_t>(count - done);
      store_batch(done, batch, make);
      cursor_ += std::uint64_t{batch} * R::kBytes;
      room_ -= batch;
      done += batch;
      accepted += batch;
    }
    rest();
    return accepted;
  }

 private:
  static constexpr bool kLooksLate = B::kThreads == 1 && kEnvLooksLate<Env>;

  // Of a page the lower half of an address tells every place from every other one.
  TM_DEVICE TM_INLINE static std::uint32_t low_of(const unsigned char* at) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(at));
  }

  // Where the next record goes.
  struct Place {
    unsigned char* cursor;
    std::uint64_t stamp_high;
    std::uint32_t end_low, accepted;
  };
  // A record was stored in front of `next`, and no other one finds room behind it. By value: what a
  // pen lends to a function that is called is no longer in registers.
  TM_DEVICE TM_NOINLINE static Place come_to_end(Recorder<R, Env>* recorder, unsigned char* next) {
    unsigned char* const spare = recorder->spare_.bytes;
    Place place{spare, recorder->stamp_high_, low_of(spare) + R::kBytes, 1};
    if (next != spare + R::kBytes) {
      recorder->cursor_ = next;
      return place;
    }
    place.accepted = 0;
    if (recorder->cursor_ == nullptr || !recorder->turn_page()) return place;
    recorder->leave_age();
    const auto* from = reinterpret_cast<const SharedQuantum*>(spare);
    auto* to = reinterpret_cast<SharedQuantum*>(recorder->cursor_);
    for (std::uint32_t q = 0; q < R::kBytes / kQuantumBytes; ++q) {
      std::uint64_t low = 0, high = 0;
      from[q].load_own(low, high);
      to[q].store_stamped(low, high, recorder->stamp_high_);
    }
    recorder->cursor_ += R::kBytes;
    place.accepted = 1;
    if (recorder->cursor_ != recorder->end_)
      place = {recorder->cursor_, recorder->stamp_high_, low_of(recorder->end_), 1};
    return place;
  }
  // Between the calls of a pen that looks late: without a page the spare place is the next one.
  TM_DEVICE TM_INLINE void rest() {
    if constexpr (kLooksLate) {
      end_low_ = low_of(recorder_->end_);
      if (room_ != 0) return;
      recorder_->cursor_ = cursor_;
      cursor_ = recorder_->spare_.bytes;
      end_low_ = low_of(cursor_) + R::kBytes;
    }
  }
  TM_DEVICE TM_INLINE void rouse() {
    if constexpr (kLooksLate) {
      if (cursor_ == recorder_->spare_.bytes) cursor_ = recorder_->cursor_;
      room_ = static_cast<std::uint32_t>(recorder_->end_ - cursor_) / R::kBytes;
    }
  }

  // Where a block has a multiple of the quanta of a record, neighbouring threads store neighbouring
  // quanta: the stores of a warp fill whole cache lines, which is what the link wants.
  template <class Make>
  TM_DEVICE TM_INLINE void store_batch(std::uint64_t done, std::uint32_t batch, const Make& make) {
    constexpr std::uint32_t kQuanta = R::kBytes / kQuantumBytes;
    const std::uint32_t threads = block_.threads();
    unsigned char* const cursor = cursor_;
    const std::uint64_t stamp_high = stamp_high_;
    if constexpr (kBurst > 1) {
      // One thread. Its stores leave in bursts that the memory system can join to lines.
      std::uint32_t i = 0;
      for (; i + kBurst <= batch; i += kBurst) {
        std::uint64_t words[kBurst][R::kBytes / 8];
        TM_UNROLL
        for (std::uint32_t r = 0; r < kBurst; ++r) make(done + i + r).pack(words[r]);
        auto* quanta = reinterpret_cast<SharedQuantum*>(cursor + std::uint64_t{i} * R::kBytes);
        TM_UNROLL
        for (std::uint32_t q = 0; q < kBurst * kQuanta; ++q)
          quanta[q].store_stamped(words[q / kQuanta][q % kQuanta * 2],
                                  words[q / kQuanta][q % kQuanta * 2 + 1], stamp_high);
      }
      for (; i < batch; ++i)
        store_record(cursor + std::uint64_t{i} * R::kBytes, make(done + i), stamp_high);
      return;
    }
    if (threads % kQuanta != 0) {
      for (std::uint32_t i = block_.thread(); i < batch; i += threads)
        store_record(cursor + std::uint64_t{i} * R::kBytes, make(done + i), stamp_high);
      return;
    }
    const std::uint32_t part = block_.thread() % kQuanta;
    TM_UNROLL_4
    for (std::uint32_t i = block_.thread() / kQuanta; i < batch; i += threads / kQuanta)
      store_quantum(cursor + std::uint64_t{i} * R::kBytes, make(done + i), part, stamp_high);
  }

  static constexpr std::uint32_t kBurst = [] {
    if constexpr (requires { B::kBurst; }) {
      return B::kBurst;
    } else {
      return 1u;
    }
  }();

  // Only thread 0 touches the recorder.
  TM_DEVICE TM_INLINE void take() {
    std::uint64_t cursor = 0, room = 0, stamp_high = 0;
    if (block_.thread() == 0) {
      cursor = reinterpret_cast<std::uint64_t>(recorder_->cursor_);
      room = static_cast<std::uint32_t>(recorder_->end_ - recorder_->cursor_) / R::kBytes;
      stamp_high = recorder_->stamp_high_;
      recorder_->leave_age();  // the recorder does not know what the pen has written
    }
    cursor_ = reinterpret_cast<unsigned char*>(block_.broadcast(cursor));
    room_ = static_cast<std::uint32_t>(block_.broadcast(room));
    stamp_high_ = block_.broadcast(stamp_high);
  }

  TM_DEVICE TM_INLINE bool turn_page() {
    if (cursor_ == nullptr) return false;
    block_.sync();  // every store into the old page is issued
    bool turned = false;
    if (block_.thread() == 0) {
      recorder_->cursor_ = cursor_;
      turned = recorder_->turn_page();
    }
    block_.sync();  // what thread 0 stored into the new page comes before anybody's records
    turned = block_.broadcast(turned ? 1 : 0) != 0;
    take();
    return turned;
  }

  unsigned char* cursor_;  // null: disabled
  std::uint32_t room_;     // records that still fit into the page; while write_many runs
  std::uint32_t end_low_;  // of a pen that looks late: lower half of where its places end
  std::uint64_t stamp_high_;
  Recorder<R, Env>* recorder_;
  B block_;
};

template <TraceRecord R, DeviceEnv Env>
class Recorder : public LaneWriter<Env> {
 public:
  Recorder() = default;
  TM_DEVICE Recorder(const RegionView* region, LaneIndex lane)
      : LaneWriter<Env>(region, lane, R::kBytes) {}
  // Every thread of a block makes one; that of thread 0 holds the lane, the others are disabled.
  template <Block B>
  TM_DEVICE Recorder(const RegionView* region, LaneIndex lane, const B& block)
      : Recorder(block.thread() == 0 ? Recorder(region, lane) : Recorder()) {}

  // The device's clock. A page that has been open for too long is handed over here, where the time
  // is known anyway: the times of its records have only 48 bits.
  TM_DEVICE TM_INLINE std::uint64_t now() {
    const std::uint64_t now_ticks = Env::now_ticks();
    if (this->is_too_old(now_ticks)) [[unlikely]]
      this->flush();
    return now_ticks;
  }

  // True if the record was accepted: it will be found, whatever happens next. A loop that writes
  // nothing but records is faster with a Pen.
  TM_DEVICE TM_INLINE bool write(const R& record) {
    unsigned char* cursor = this->cursor_;
    // Where a branch is slow there is one: of a disabled recorder the end is null, too.
    if constexpr (!kEnvLooksLate<Env>)
      if (cursor == nullptr) return false;
    std::uint64_t stamp_high = this->stamp_high_;
    if (cursor == this->end_) [[unlikely]] {
      if (cursor == nullptr || !this->turn_page()) return false;
      cursor = this->cursor_;
      stamp_high = this->stamp_high_;
    }
    store_record(cursor, record, stamp_high);
    this->cursor_ = cursor + R::kBytes;
    return this->accept();
  }

  // Every thread of the block calls this on its own recorder, with the same count.
  template <Block B, class Make>
  TM_DEVICE std::uint64_t write_many(B& block, std::uint64_t count, const Make& make) {
    return Pen<R, Env, B>(*this, block).write_many(count, make);
  }

 private:
  template <TraceRecord, DeviceEnv, Block>
  friend class Pen;

  struct SparePlace {
    alignas(kQuantumBytes) unsigned char bytes[R::kBytes];
  };
  struct NoPlace {};
  std::conditional_t<kEnvLooksLate<Env>, SparePlace, NoPlace> spare_;
};

}  // namespace tidemark
