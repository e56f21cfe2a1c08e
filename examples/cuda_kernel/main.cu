// SPDX-License-Identifier: Apache-2.0
// An ordinary persistent kernel that knows nothing of Tidemark's runtime: every CTA takes tiles of
// a picture of the Mandelbrot set from a counter until there are none left. The lines marked [tm]
// add the recorder: one lane per CTA, one span per tile, drained while the kernel runs.
//
//   cuda_kernel [DIRECTORY]          tidemark check DIRECTORY
#include <cstdio>
#include <vector>

#include "tidemark/recording.cuh"  // [tm]

constexpr int kWidth = 4096, kTileRows = 4, kTiles = kWidth / kTileRows, kThreads = 256;

__global__ void draw(const __grid_constant__ tidemark::RegionView region,  // [tm]
                     unsigned* next_tile, unsigned char* picture) {
  using Recorder = tidemark::Recorder<tidemark::TaskSpan, tidemark::CudaEnv>;  // [tm]
  Recorder recorder(&region, blockIdx.x, tidemark::CtaBlock{});                // [tm]
  __shared__ unsigned tile;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(next_tile, 1u);
    __syncthreads();
    if (tile >= kTiles) break;
    const std::uint64_t begin_ticks = recorder.now();  // [tm]
    for (int at = threadIdx.x; at < kTileRows * kWidth; at += kThreads) {
      const int row = tile * kTileRows + at / kWidth, column = at % kWidth;
      const float a = 3.0f * column / kWidth - 2.2f, b = 3.0f * row / kWidth - 1.5f;
      float x = 0, y = 0;
      int steps = 0;
      for (; steps < 255 && x * x + y * y < 4; ++steps) {
        const float next_x = x * x - y * y + a;
        y = 2 * x * y + b;
        x = next_x;
      }
      picture[row * kWidth + column] = static_cast<unsigned char>(steps);
    }
    __syncthreads();
    if (threadIdx.x == 0)                           // [tm]
      recorder.write({.task_id = tile,              // [tm]
                      .begin_ticks = begin_ticks,   // [tm]
                      .end_ticks = recorder.now(),  // [tm]
                      .block = blockIdx.x});        // [tm]
  }
  recorder.close();  // [tm]
}

int main(int argc, char** argv) {
  int device = 0, ctas = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&ctas, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) {
    std::fprintf(stderr, "cuda_kernel: no CUDA device\n");
    return 3;
  }
  tidemark::RecordingOptions options{.output_dir = argc > 1 ? argv[1] : "cuda_kernel_run",  // [tm]
                                     .name = "cuda_kernel",                                 // [tm]
                                     .force = true};                                        // [tm]
  for (int cta = 0; cta < ctas; ++cta)                                                      // [tm]
    options.lanes.push_back({.producer = "CTA " + std::to_string(cta)});                    // [tm]
  auto recording = tidemark::CudaRecording::start(options);                                 // [tm]
  if (!recording) {                                                                         // [tm]
    std::fprintf(stderr, "cuda_kernel: %s\n", recording.error().message.c_str());           // [tm]
    return 3;                                                                               // [tm]
  }                                                                                         // [tm]

  unsigned* next_tile = nullptr;
  unsigned char* picture = nullptr;
  cudaMalloc(&next_tile, sizeof(*next_tile));
  cudaMemset(next_tile, 0, sizeof(*next_tile));
  cudaMalloc(&picture, kWidth * kWidth);
  draw<<<ctas, kThreads>>>((*recording)->region(), next_tile, picture);

  const auto report = (*recording)->finish();                                         // [tm]
  if (!report) {                                                                      // [tm]
    std::fprintf(stderr, "cuda_kernel: %s\n", report.error().message.c_str());        // [tm]
    return 3;                                                                         // [tm]
  }                                                                                   // [tm]
  const auto counts = report->total();                                                // [tm]
  std::printf("%llu tiles drawn, %llu spans recorded, exit code %d\n",                // [tm]
              static_cast<unsigned long long>(kTiles),                                // [tm]
              static_cast<unsigned long long>(counts.delivered), report->exit_code);  // [tm]
  return counts.delivered == kTiles ? report->exit_code : 4;                          // [tm]
}
