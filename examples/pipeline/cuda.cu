// SPDX-License-Identifier: Apache-2.0
// The pipeline on a GPU: one persistent kernel, a warp for each stage of a CTA.
//
//   pipeline_cuda DIRECTORY --ctas 132 --hang 57,compute,17      tidemark hang DIRECTORY
#include <unistd.h>

#include <vector>

#include "options.h"
#include "tidemark/recording.cuh"  // [tm]

struct Gpu {
  __device__ static void pause() { __nanosleep(100); }
};

__global__ void run_pipeline(const __grid_constant__ tidemark::RegionView region,  // [tm]
                             const __grid_constant__ pipeline::Work work) {
  __shared__ pipeline::Tiles tiles;
  if (threadIdx.x == 0) {
    tiles.loaded.store_relaxed(0);
    tiles.computed.store_relaxed(0);
    tiles.stored.store_relaxed(0);
  }
  __syncthreads();
  const std::uint32_t stage = threadIdx.x / 32;
  const tidemark::WarpBlock warp;
  tidemark::Recorder<tidemark::TaskSpan, tidemark::CudaEnv> recorder(  // [tm]
      &region, blockIdx.x * pipeline::kStages + stage, warp);          // [tm]
  pipeline::run_stage<Gpu>(recorder, warp, work, tiles, blockIdx.x, stage);
}

namespace {

int failed(const std::string& what) {
  std::fprintf(stderr, "pipeline_cuda: %s\n", what.c_str());
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  pipeline::Options options;
  if (!pipeline::read_options(argc, argv, options)) return 2;
  if (options.lines && !tidemark::CudaRecording::arm_core_dumps())  // [tm]
    return failed("no core dumps");
  auto recording = tidemark::CudaRecording::start(pipeline::recording_options(options));  // [tm]
  if (!recording) return failed(recording.error().message);
  const std::vector<float> input = pipeline::make_input(options);
  std::vector<float> output(input.size());
  const std::size_t bytes = input.size() * sizeof(float);
  float* from = nullptr;
  float* to = nullptr;
  if (cudaMalloc(&from, bytes) != cudaSuccess || cudaMalloc(&to, bytes) != cudaSuccess ||
      cudaMemcpy(from, input.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess)
    return failed("no memory on the device");
  const pipeline::Work work{.from = from,
                            .to = to,
                            .rounds = options.rounds,
                            .hang_cta = options.hang_cta,
                            .hang_stage = options.hang_stage,
                            .hang_round = options.hang_round};
  run_pipeline<<<options.ctas, 32 * pipeline::kStages>>>((*recording)->region(), work);
  if (const cudaError_t launched = cudaGetLastError(); launched != cudaSuccess)
    return failed(cudaGetErrorString(launched));
  const auto report = (*recording)->finish({.still_ms = options.limit_ms});  // [tm]
  if (!report) return failed(report.error().message);
  if (report->status != tidemark::RunStatus::kHang)
    cudaMemcpy(output.data(), to, bytes, cudaMemcpyDeviceToHost);
  const int code = pipeline::judge(options, *report, input, output);
  // A kernel that hangs is still there, and whatever waits for the device would wait for it.
  std::fflush(nullptr);
  _exit(code);
}
