// SPDX-License-Identifier: Apache-2.0
// synthetic_producer on an NVIDIA GPU: one CTA per lane, written by a warp or by one thread.
#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/device/cuda/cuda_launch.cuh"
#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/record/event_recorder.h"
#include "tidemark/record/frame_writer.h"
#include "workloads/record_widths.h"
#include "workloads/synthetic_content.h"
#include "workloads/synthetic_producer.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kBatch = 256;  // records a warp writes between two looks at the clock
constexpr std::uint64_t kLookEveryNs = 500'000;  // between two looks at the stop words

// What a lane may write, and until when. Nanoseconds are ticks here.
class Pace {
 public:
  __device__ Pace(const RegionView& region, const SyntheticArgs& args)
      : region_(region),
        args_(args),
        begin_ticks_(CudaEnv::now_ticks()),
        limit_(args.records > 0 ? args.records : ~std::uint64_t{0}) {
    if (args.seconds > 0)
      deadline_ticks_ = begin_ticks_ + static_cast<std::uint64_t>(args.seconds * 1e9);
  }

  // How many of the next `wanted` records may be written now; 0: the lane is to end. Waits where
  // rate or bursts ask for it.
  __device__ std::uint64_t next(std::uint64_t number, std::uint64_t wanted) {
    if (number >= limit_) return 0;
    if (limit_ - number < wanted) wanted = limit_ - number;
    if (args_.hang_after > number && args_.hang_after - number < wanted)
      wanted = args_.hang_after - number;
    if (args_.burst) {
      const std::uint64_t left = kBurstRecords - number % kBurstRecords;
      if (left == kBurstRecords && number > 0) sleep_until(CudaEnv::now_ticks() + kBurstSilenceNs);
      if (left < wanted) wanted = left;
    }
    if (args_.rate > 0) {
      const std::uint64_t due = args_.burst ? number / kBurstRecords * kBurstRecords : number;
      sleep_until(begin_ticks_ +
                  static_cast<std::uint64_t>(static_cast<double>(due) * 1e9 / args_.rate));
      wanted = args_.burst ? wanted : 1;
    }
    return must_stop() ? 0 : wanted;
  }

  __device__ bool hangs_at(std::uint64_t number) const {
    return args_.hang_after > 0 && number == args_.hang_after;
  }

 private:
  // The stop words are the host's: a look goes over the link, which the records need.
  __device__ bool must_stop() {
    const std::uint64_t now_ticks = CudaEnv::now_ticks();
    if (now_ticks >= deadline_ticks_) return true;
    if (now_ticks < next_look_ticks_) return stopped_;
    next_look_ticks_ = now_ticks + kLookEveryNs;
    stopped_ = !args_.ignores_abort && region_.stop_requested();
    return stopped_;
  }

  __device__ void sleep_until(std::uint64_t ticks) {
    for (std::uint64_t now_ticks = 0; (now_ticks = CudaEnv::now_ticks()) < ticks && !must_stop();)
      __nanosleep(ticks - now_ticks < 20'000 ? static_cast<unsigned>(ticks - now_ticks) : 20'000);
  }

  const RegionView& region_;
  const SyntheticArgs& args_;
  std::uint64_t begin_ticks_;
  std::uint64_t deadline_ticks_ = ~std::uint64_t{0};
  std::uint64_t limit_;
  std::uint64_t next_look_ticks_ = 0;
  bool stopped_ = false;
};

__device__ void hang() {
  for (;;) __nanosleep(1'000'000);
}

template <std::uint32_t kBytes>
__device__ void produce_as_warp(const RegionView& region, const SyntheticArgs& args,
                                LaneIndex lane) {
  using Span = SyntheticSpan<kBytes>;
  const WarpBlock warp;
  Recorder<Span, CudaEnv> recorder(&region, lane, warp);
  {
    Pen<Span, CudaEnv, WarpBlock> pen(recorder, warp);
    Pace pace(region, args);
    std::uint64_t last_ticks = CudaEnv::now_ticks();
    last_ticks = __shfl_sync(~0u, last_ticks, 0);
    for (std::uint64_t number = 0;;) {
      std::uint64_t count = 0, now_ticks = 0;
      if (warp.thread() == 0) {
        count = pace.next(number, kBatch);
        now_ticks = CudaEnv::now_ticks();
      }
      count = __shfl_sync(~0u, count, 0);
      now_ticks = __shfl_sync(~0u, now_ticks, 0);
      if (count == 0) break;
      pen.write_many(count, [&](std::uint64_t i) {
        return Span{synthetic_span(lane, number + i, last_ticks, now_ticks)};
      });
      number += count;
      last_ticks = now_ticks;
      if (pace.hangs_at(number)) hang();
    }
  }
  recorder.close();
}

template <std::uint32_t kBytes>
__device__ void produce_as_thread(const RegionView& region, const SyntheticArgs& args,
                                  LaneIndex lane) {
  using Span = SyntheticSpan<kBytes>;
  Recorder<Span, CudaEnv> recorder(&region, lane);
  {
    Pen pen(recorder);
    Pace pace(region, args);
    std::uint64_t last_ticks = CudaEnv::now_ticks();
    std::uint64_t number = 0;
    while (const std::uint64_t count = pace.next(number, kBatch)) {
      for (const std::uint64_t stop = number + count; number < stop; ++number) {
        const std::uint64_t now_ticks = CudaEnv::now_ticks();
        pen.write({synthetic_span(lane, number, last_ticks, now_ticks)});
        last_ticks = now_ticks;
      }
      if (pace.hangs_at(number)) hang();
    }
  }
  recorder.close();
}

// As many frames as the simulated device would write beside the records, by one thread. A frame
// spans pages, and no block can share it.
__device__ void produce_frames(const RegionView& region, const SyntheticArgs& args,
                               std::uint32_t lane) {
  FrameWriter<CudaEnv> writer(&region, args.lanes + lane);
  SyntheticArgs frames = args;
  frames.records = (args.records + kFrameEvery - 1) / kFrameEvery;
  frames.rate = args.rate / kFrameEvery;
  frames.burst = false;
  frames.hang_after = 0;
  Pace pace(region, frames);
  const bool writes = args.writing_lanes == 0 || lane < args.writing_lanes;
  for (std::uint64_t frame = 0; writes && pace.next(frame, 1) != 0; ++frame) {
    SyntheticFrame content(lane, frame);
    writer.write_from(content, synthetic_frame_bytes(lane, frame, args.frame_bytes));
  }
  writer.close();
}

// Blocks beyond the lanes of records write the lanes of frames.
template <std::uint32_t kBytes>
__global__ void produce(const __grid_constant__ RegionView region,
                        const __grid_constant__ SyntheticArgs args) {
  const LaneIndex lane = blockIdx.x;
  if (lane >= args.lanes) {
    if (threadIdx.x == 0) produce_frames(region, args, lane - args.lanes);
    return;
  }
  if (args.writing_lanes > 0 && lane >= args.writing_lanes) {
    if (threadIdx.x == 0) Recorder<SyntheticSpan<kBytes>, CudaEnv>(&region, lane).close();
  } else if (args.one_thread) {
    if (threadIdx.x == 0) produce_as_thread<kBytes>(region, args, lane);
  } else {
    produce_as_warp<kBytes>(region, args, lane);
  }
}

__global__ void mark(const __grid_constant__ RegionView region, LaneIndex events_lane, bool begin,
                     std::int64_t lanes) {
  EventRecorder<CudaEnv> events(&region, events_lane);
  if (begin)
    events.mark("synthetic_producer.begin", lanes);
  else
    events.mark("synthetic_producer.end", lanes);
  events.close();
}

bool run_on_cuda(CudaLaunch& launch) {
  const auto args = launch.args<SyntheticArgs>();
  const RegionView& region = launch.region();
  cudaStream_t stream = launch.stream();
  const std::uint32_t threads = args.one_thread ? 1 : 32;
  const std::uint32_t blocks = args.lanes * (args.frame_bytes > 0 ? 2 : 1);
  mark<<<1, 1, 0, stream>>>(region, blocks, true, args.lanes);
  with_record_bytes(args.record_bytes, [&](auto bytes) {
    produce<bytes()><<<blocks, threads, 0, stream>>>(region, args);
  });
  mark<<<1, 1, 0, stream>>>(region, blocks, false, args.lanes);
  return launch.launched("launch of synthetic_producer");
}

}  // namespace

void register_synthetic_producer_cuda() { register_cuda_program(kSyntheticProducer, &run_on_cuda); }

}  // namespace tidemark
