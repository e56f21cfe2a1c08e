// SPDX-License-Identifier: Apache-2.0
// The elements of a view in row-major order as one stream of bytes, read in pieces of any size.
// Runs that lie together in memory are copied as such; an inner stride is followed element by
// element. Threads that share a tensor take its words in any order.
#pragma once

#include <cstdint>
#include <cstring>

#include "tidemark/runtime/tensor/tensor_view.h"

namespace tidemark {

class TensorGather {
 public:
  // `memory` is where buffers count from.
  TM_DEVICE TensorGather(const unsigned char* memory, const TensorView& view)
      : element_bytes_(dtype_bytes(view.dtype)),
        first_(memory + view.buffer + view.offset * element_bytes_) {
    bytes_ = left_ = view.element_count() * element_bytes_;
    if (left_ == 0) return;
    // Dimensions that lie together are one run.
    rank_ = view.shape.rank;
    run_bytes_ = element_bytes_;
    while (rank_ > 0 && (view.shape.extent[rank_ - 1] == 1 ||
                         view.stride[rank_ - 1] * element_bytes_ == run_bytes_)) {
      run_bytes_ *= view.shape.extent[rank_ - 1];
      --rank_;
    }
    for (std::uint32_t i = 0; i < rank_; ++i) {
      extent_[i] = view.shape.extent[i];
      step_[i] = view.stride[i] * element_bytes_;
    }
  }

  TM_DEVICE std::uint64_t left_bytes() const { return left_; }
  // At most `bytes`; fewer only at the end.
  TM_DEVICE TM_NOINLINE std::uint64_t read(unsigned char* to, std::uint64_t bytes) {
    const std::uint64_t wanted = bytes < left_ ? bytes : left_;
    for (std::uint64_t done = 0; done < wanted;) {
      if (at_ == 0 && run_bytes_ == element_bytes_ && rank_ > 0 &&
          wanted - done >= element_bytes_) {
        done += read_strided(to + done, wanted - done);
        continue;
      }
      const std::uint64_t rest = run_bytes_ - at_;
      const std::uint64_t part = rest < wanted - done ? rest : wanted - done;
      ::memcpy(to + done, first_ + place_ + at_, part);
      done += part;
      at_ += part;
      if (at_ == run_bytes_) next_run();
    }
    left_ -= wanted;
    return wanted;
  }
  // The next byte to read; at most the end.
  TM_DEVICE void seek(std::uint64_t position) {
    left_ = bytes_ - position;
    at_ = position;
    if (rank_ == 0) return;
    std::uint64_t run = position / run_bytes_;
    at_ = position - run * run_bytes_;
    place_ = 0;
    for (std::uint32_t dim = rank_; dim-- > 0;) {
      index_[dim] = run % extent_[dim];
      place_ += index_[dim] * step_[dim];
      run /= extent_[dim];
    }
  }
  // Where the elements are, if they lie together and words can be loaded as such; else null.
  TM_DEVICE const unsigned char* together() const {
    return rank_ == 0 && reinterpret_cast<std::uint64_t>(first_) % 8 == 0 ? first_ : nullptr;
  }
  // The eight bytes from `position` on; the view has so many.
  TM_DEVICE std::uint64_t word_at(std::uint64_t position) {
    seek(position);
    if (run_bytes_ - at_ >= 8) return load_word(first_ + place_ + at_);
    alignas(8) unsigned char bytes[8];
    read(bytes, sizeof(bytes));
    std::uint64_t word = 0;
    ::memcpy(&word, bytes, sizeof(word));
    return word;
  }

 private:
  // A GPU loads as much at a time as the address is aligned to.
  TM_DEVICE TM_INLINE static std::uint64_t load_word(const unsigned char* from) {
    alignas(8) unsigned char bytes[8];
    const auto place = reinterpret_cast<std::uint64_t>(from);
    if (place % 8 == 0)
      load_aligned<8>(bytes, from);
    else if (place % 4 == 0)
      load_aligned<4>(bytes, from);
    else if (place % 2 == 0)
      load_aligned<2>(bytes, from);
    else
      load_aligned<1>(bytes, from);
    std::uint64_t word = 0;
    ::memcpy(&word, bytes, sizeof(word));
    return word;
  }
  template <std::uint32_t kPart>
  TM_DEVICE TM_INLINE static void load_aligned(unsigned char* to, const unsigned char* from) {
    for (std::uint32_t i = 0; i < 8; i += kPart)
      ::memcpy(to + i, __builtin_assume_aligned(from + i, kPart), kPart);
  }
  // Whole elements along the innermost dimension.
  TM_DEVICE std::uint64_t read_strided(unsigned char* to, std::uint64_t bytes) {
    const std::uint32_t inner = rank_ - 1;
    const std::uint64_t in_row = extent_[inner] - index_[inner];
    const std::uint64_t fit = bytes / element_bytes_;
    const std::uint64_t count = in_row < fit ? in_row : fit;
    const unsigned char* from = first_ + place_;
    for (std::uint64_t i = 0; i < count; ++i) {
      copy_element(to + i * element_bytes_, from + i * step_[inner]);
    }
    index_[inner] += count - 1;
    place_ += (count - 1) * step_[inner];
    next_run();
    return count * element_bytes_;
  }
  TM_DEVICE void copy_element(unsigned char* to, const unsigned char* from) const {
    switch (element_bytes_) {
      case 1:
        *to = *from;
        return;
      case 2:
        ::memcpy(to, from, 2);
        return;
      case 4:
        ::memcpy(to, from, 4);
        return;
      default:
        ::memcpy(to, from, 8);
    }
  }
  TM_DEVICE void next_run() {
    at_ = 0;
    for (std::uint32_t dim = rank_; dim-- > 0;) {
      place_ += step_[dim];
      if (++index_[dim] < extent_[dim]) return;
      place_ -= step_[dim] * extent_[dim];
      index_[dim] = 0;
    }
  }

  std::uint64_t element_bytes_;
  const unsigned char* first_;
  std::uint64_t bytes_ = 0, left_ = 0;
  std::uint32_t rank_ = 0;  // dimensions above the run
  std::uint64_t run_bytes_ = 1;
  std::uint64_t extent_[kRankMax] = {};
  std::uint64_t step_[kRankMax] = {};  // bytes
  std::uint64_t index_[kRankMax] = {};
  std::uint64_t place_ = 0;  // bytes from first_ to the run
  std::uint64_t at_ = 0;     // bytes into the run
};

}  // namespace tidemark
