// SPDX-License-Identifier: Apache-2.0
// What runs a kernel and what the kernel works with: a block of threads. Every thread calls the
// kernel's run(block, args) and does its share: work is split by thread() and threads(), or by
// warp() and lane(). What one thread writes, another one may read after a sync().
//
//   shared<T>(count)       memory that all threads of the block see, dirty at first. All ask for
//   the
//                          same; the kernel declares how much in all (KernelInfo::shared_bytes).
//   reduce(value, op)      op over the values of all threads, in the order of the threads, for
//                          everybody. op is associative.
//   broadcast(value)       the value of thread 0, for everybody
//   copy(to, from, bytes)  all threads together; it is there for all of them after a sync()
//   multiply_tile(shape, left, right, out)  out = left x right, likewise
//   recorder()             marks and counters. Any thread may call it: what thread 0 says is
//                          recorded, what the others say is not.
//   wait_ns(ns)            of this thread
//
// All threads call sync, broadcast and reduce equally often: a kernel does not return early in some
// of them while others still meet.
#pragma once

#include <concepts>
#include <cstdint>

#include "tidemark/record/recorder.h"
#include "tidemark/runtime/device_word.h"
#include "tidemark/runtime/tile_product.h"

namespace tidemark {

namespace kernel_block_detail {

struct Sum {
  template <class T>
  TM_DEVICE T operator()(const T& left, const T& right) const {
    return left + right;
  }
};

}  // namespace kernel_block_detail

template <class B>
concept SharesMemory = requires(B& block, std::uint32_t bytes) {
  { block.template shared<float>(bytes) } -> std::same_as<float*>;
  block.open_shared(bytes);  // before a kernel that declares so many; by every thread
  block.close_shared();      // after it
  // The bytes that a kernel asked for, where that was more than it declared; else 0.
  { block.shared_overrun() } -> std::same_as<std::uint64_t>;
};

template <class B>
concept KernelBlock = Block<B> && SharesMemory<B> &&
    requires(B& block, std::uint64_t number, void* to, const void* from, float* tile) {
  { B::kWarpThreads } -> std::convertible_to<std::uint32_t>;
  { block.warp() } -> std::same_as<std::uint32_t>;
  { block.lane() } -> std::same_as<std::uint32_t>;
  // One for all threads of the block, 0 at first. Memory of thread 0 is nobody else's on a GPU.
  { block.common_word() } -> std::same_as<DeviceWord<std::uint32_t>&>;
  { block.reduce(number, kernel_block_detail::Sum()) } -> std::same_as<std::uint64_t>;
  block.copy(to, from, number);
  block.multiply_tile(TileShape{}, tile, tile, tile);
  block.recorder();
  block.wait_ns(number);
};

}  // namespace tidemark
