// SPDX-License-Identifier: Apache-2.0
// Compiles for a GPU what no workload asks of its block (workloads/task_kernels.cu compiles the
// task runtime itself). Nothing here is run by CI.
#include "tidemark/device/cuda/cuda_block.cuh"

namespace tidemark {

__global__ void use_the_block(float* out, const __grid_constant__ RegionView region) {
  CtaUnitBlock<64> block(&region, ~0u);
  struct Pair {
    std::uint32_t thread, warp;
    std::uint16_t lane;
  };
  const Pair first =
      block.broadcast(Pair{block.thread(), block.warp(), static_cast<std::uint16_t>(block.lane())});
  block.open_shared(4096);
  auto* tile = block.shared<float>(1024);
  block.copy(tile, out, 4096);
  block.sync();
  block.multiply_tile({.rows = 16, .inner = 16, .columns = 16}, tile, tile + 256, out);
  block.close_shared();
  out[first.thread] = block.reduce(out[block.thread()], [](float a, float b) { return a + b; });
}

}  // namespace tidemark
