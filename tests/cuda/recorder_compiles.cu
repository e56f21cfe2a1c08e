// SPDX-License-Identifier: Apache-2.0
// Compiles schema, transport and record for a GPU, so that the single source never drifts. Nothing
// here is run by CI.
#include "tidemark/record/event_recorder.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/record/recorder.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {

struct CudaEnv {
  __device__ static std::uint64_t now_ticks() {
    std::uint64_t ticks = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ticks));
    return ticks;
  }
  __device__ static void pause(std::uint32_t round) { __nanosleep(round < 32 ? 100 : 1000); }
};

struct WarpBlock {
  __device__ std::uint32_t rank() const { return threadIdx.x % 32; }
  __device__ std::uint32_t size() const { return 32; }
  __device__ void barrier() const { __syncwarp(); }
};

__global__ void write_one_thread(RegionView region, std::uint64_t count) {
  Recorder<TaskSpan, CudaEnv> recorder(&region, blockIdx.x);
  for (std::uint64_t i = 0; i < count; ++i)
    recorder.write({.task_id = i, .begin_ticks = recorder.now(), .end_ticks = recorder.now()});
  recorder.close();
}

__global__ void write_warp_wide(RegionView region, Recorder<TaskSpan, CudaEnv>* recorders,
                                std::uint64_t count) {
  WarpBlock warp;
  auto& recorder = recorders[blockIdx.x];
  recorder.write_many(warp, count, [](std::uint64_t i) {
    return TaskSpan{.task_id = i, .begin_ticks = i, .end_ticks = i + 1};
  });
}

__global__ void write_frames_and_events(RegionView region, const unsigned char* bytes,
                                        std::uint64_t size) {
  FrameWriter<CudaEnv> frames(&region, 0);
  frames.write_frame(bytes, size);
  frames.close();
  EventRecorder<CudaEnv> events(&region, 1);
  events.mark("kernel.begin", 1);
  events.counter("depth", 2);
  events.close();
}

}  // namespace tidemark
