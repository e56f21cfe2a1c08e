// SPDX-License-Identifier: Apache-2.0
// Compiles what no kernel of the project uses yet for a GPU, so that the single source never
// drifts. Nothing here is run by CI.
#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/record/event_recorder.h"
#include "tidemark/record/frame_writer.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {

__global__ void write_frames_and_events(const __grid_constant__ RegionView region,
                                        const unsigned char* bytes, std::uint64_t size) {
  FrameWriter<CudaEnv> frames(&region, 0);
  frames.waits_for("bytes");
  frames.write_frame(bytes, size);
  frames.close();
  EventRecorder<CudaEnv> events(&region, 1);
  events.at("begin", 1);
  events.mark("kernel.begin", 1);
  events.counter("depth", 2);
  events.close();
}

}  // namespace tidemark
