// SPDX-License-Identifier: Apache-2.0
// How a thread finds the memory that the threads of its block share while they run one kernel. All
// of them take the same pieces in the same order, so each knows alone where a piece is.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tidemark/base/align.h"
#include "tidemark/runtime/kernel_info.h"

namespace tidemark {

class SharedArena {
 public:
  // For one kernel, which declared so many bytes.
  TM_DEVICE void open(unsigned char* base, std::uint32_t bytes) {
    base_ = base;
    bytes_ = bytes;
    taken_ = 0;
  }
  TM_DEVICE void close() { open(nullptr, 0); }

  // Null: the kernel asks for more than it declared. The bytes are as anybody left them.
  template <class T>
  TM_DEVICE T* take(std::uint64_t count) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    const std::uint64_t begin = round_up(taken_, alignof(T));
    const bool countable = count <= ~std::uint64_t{0} / 2 / sizeof(T);
    const std::uint64_t end = countable ? begin + count * sizeof(T) : ~std::uint64_t{0};
    if (end > bytes_) {
      overrun_ = end;
      return nullptr;
    }
    taken_ = end;
    return reinterpret_cast<T*>(base_ + begin);
  }

  // How many bytes a kernel would have had to declare; 0: none asked for too many.
  TM_DEVICE std::uint64_t overrun() const { return overrun_; }

 private:
  unsigned char* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t overrun_ = 0;
};

}  // namespace tidemark
