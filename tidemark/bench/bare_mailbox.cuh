// SPDX-License-Identifier: Apache-2.0
// What dispatching costs without a runtime: threads of one CTA hand numbers to worker CTAs
// through mailboxes in device memory, and nothing else. It is the floor of 'bench runtime -p cuda'.
//
//   scheduler:      done == given? write the task, then the next token ──▶ mailbox of one worker
//   worker CTA:     a new token? all threads meet, do nothing, meet  ──▶ done = token
#pragma once

#include <algorithm>
#include <cstdint>

#include "tidemark/bench/device_graph.h"
#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/device/cuda/cuda_launch.cuh"
#include "tidemark/device/cuda/unit_placement.h"
#include "tidemark/runtime/device_word.h"

namespace tidemark::bench {

struct alignas(128) BareBox {
  DeviceWord<std::uint64_t> given;  // writer: its scheduler
  std::uint64_t task;
  alignas(128) DeviceWord<std::uint64_t> done;  // writer: the worker
};

struct BareWork {
  std::uint32_t workers;
  std::uint32_t lanes;    // threads of a warp that give
  std::uint32_t in_turn;  // 1: each task waits for the one before
  std::uint64_t tasks;
  std::uint64_t blocks;  // not 0: so many go out together, and the next ones wait for all of them
};

inline constexpr std::uint64_t kGoHome = ~std::uint64_t{0};
inline constexpr std::uint32_t kBareWarps = kUnitThreads / 32;

// The workers of one thread: every worker belongs to one.
class BareScheduler {
 public:
  static constexpr std::uint32_t kWorkersMost = 32;

  __device__ BareScheduler(BareBox* boxes, std::uint32_t workers, std::uint32_t index,
                           std::uint32_t count)
      : boxes_(boxes + workers * index / count),
        count_(workers * (index + 1) / count - workers * index / count) {}

  // Hands out so many, each to the next worker that is free, and waits for all of them.
  __device__ void give_all(std::uint64_t tasks, std::uint32_t most_at_once) {
    const std::uint32_t used = most_at_once < count_ ? most_at_once : count_;
    std::uint64_t task = 0;
    while (task < tasks && used > 0)
      for (std::uint32_t i = 0; i < used && task < tasks; ++i)
        if (is_free(i)) give(i, task++);
    for (std::uint32_t i = 0; i < used; ++i)
      while (!is_free(i)) {
      }
  }
  __device__ void send_home() {
    for (std::uint32_t i = 0; i < count_; ++i) give(i, kGoHome);
  }
  [[nodiscard]] __device__ std::uint32_t workers() const { return count_; }

 private:
  __device__ bool is_free(std::uint32_t i) const {
    return boxes_[i].done.load_relaxed() == given_[i] &&
           boxes_[i].done.load_acquire() == given_[i];  // pairs with [bare done]
  }
  __device__ void give(std::uint32_t i, std::uint64_t task) {
    boxes_[i].task = task;
    boxes_[i].given.store_release(++given_[i]);  // [bare given]
  }

  BareBox* boxes_;
  std::uint32_t count_;
  std::uint64_t given_[kWorkersMost] = {};
};

// `lanes` threads of each warp give: 1, as the runtime does, or as many as there are workers for.
__device__ inline void bare_schedule(BareBox* boxes, const BareWork& work,
                                     std::uint64_t* begin_and_end) {
  const std::uint32_t givers = kBareWarps * work.lanes;
  const std::uint32_t lane = threadIdx.x % 32;
  const bool gives = lane < work.lanes;
  const std::uint32_t index = threadIdx.x / 32 * work.lanes + lane;
  BareScheduler scheduler(boxes, gives ? work.workers : 0, gives ? index : 0, givers);
  // By workers, so that nobody has tasks and no worker.
  const auto share = [&](std::uint64_t all) {
    const std::uint64_t first = std::uint64_t{work.workers} * index / givers;
    return all * (first + scheduler.workers()) / work.workers - all * first / work.workers;
  };
  if (threadIdx.x == 0) begin_and_end[0] = CudaEnv::now_ticks();
  const std::uint64_t waves = work.blocks > 0 ? work.tasks : 1;
  for (std::uint64_t wave = 0; wave < waves; ++wave) {
    if (gives && work.in_turn == 0)
      scheduler.give_all(share(work.blocks > 0 ? work.blocks : work.tasks), work.workers);
    // The one worker of the chain is the first one of somebody.
    if (work.in_turn != 0 && gives && index == givers - 1) scheduler.give_all(work.tasks, 1);
    __syncwarp();
    __syncthreads();  // what comes next waits for all of it
  }
  if (threadIdx.x == 0) begin_and_end[1] = CudaEnv::now_ticks();
  if (gives) scheduler.send_home();
}

__device__ inline void bare_work(BareBox& box) {
  __shared__ std::uint64_t task;
  for (std::uint64_t done = 0;; ++done) {
    if (threadIdx.x == 0) {
      // pairs with [bare given]
      while (box.given.load_relaxed() == done || box.given.load_acquire() == done) {
      }
      task = box.task;
    }
    __syncthreads();
    if (task == kGoHome) return;
    __syncthreads();
    if (threadIdx.x == 0) box.done.store_release(done + 1);  // [bare done]
  }
}

__global__ void __launch_bounds__(kUnitThreads, 1)
    bare_mailboxes(BareBox* boxes, const __grid_constant__ BareWork work,
                   std::uint64_t* begin_and_end) {
  if (blockIdx.x == 0)
    bare_schedule(boxes, work, begin_and_end);
  else
    bare_work(boxes[blockIdx.x - 1]);
}

class BareMailbox {
 public:
  BareMailbox(CudaLaunch& launch, const WorkRequest& work, std::uint32_t workers,
              std::uint32_t lanes)
      : launch_(launch),
        work_{.workers = workers,
              .lanes = lanes,
              .in_turn = work.shape == WorkShape::kChain ? 1u : 0u,
              .tasks = work.tasks,
              .blocks = work.shape == WorkShape::kBlocks ? work.width : 0} {}
  ~BareMailbox() {
    cudaFree(boxes_);
    cudaFreeHost(times_);
  }
  BareMailbox(const BareMailbox&) = delete;
  BareMailbox& operator=(const BareMailbox&) = delete;

  bool open() {
    return launch_.check(cudaMalloc(&boxes_, work_.workers * sizeof(BareBox)),
                         "cudaMalloc of mailboxes") &&
           launch_.check(cudaHostAlloc(&times_, 2 * sizeof(std::uint64_t), cudaHostAllocMapped),
                         "cudaHostAlloc of times");
  }
  bool run(double& ns_per_task) {
    void* times = nullptr;
    if (!launch_.check(
            cudaMemsetAsync(boxes_, 0, work_.workers * sizeof(BareBox), launch_.stream()),
            "cudaMemset of mailboxes") ||
        !launch_.check(cudaHostGetDevicePointer(&times, times_, 0),
                       "cudaHostGetDevicePointer of times"))
      return false;
    void* arguments[] = {&boxes_, &work_, &times};
    const auto* kernel = reinterpret_cast<const void*>(&bare_mailboxes);
    if (!launch_.check(cudaLaunchCooperativeKernel(kernel, 1 + work_.workers, kUnitThreads,
                                                   arguments, 0, launch_.stream()),
                       "launch of mailboxes") ||
        !launch_.check(cudaStreamSynchronize(launch_.stream()), "mailboxes"))
      return false;
    ns_per_task = static_cast<double>(times_[1] - times_[0]) / static_cast<double>(work_.tasks);
    return true;
  }

 private:
  CudaLaunch& launch_;
  BareWork work_;
  BareBox* boxes_ = nullptr;
  std::uint64_t* times_ = nullptr;
};

}  // namespace tidemark::bench
