// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "tidemark/device/cuda/cuda_calibrate.cuh"
#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/device/region_plan.h"
#include "tidemark/schema/task_span.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kRecords = 8192;

__global__ void write_records(const __grid_constant__ RegionView region, std::uint64_t* took_ns) {
  Recorder<TaskSpan, CudaEnv> recorder(&region, 0);
  const std::uint64_t begin_ticks = CudaEnv::now_ticks();
  {
    Pen pen(recorder);
    for (std::uint64_t i = 0; i < kRecords; ++i)
      pen.write({.task_id = i, .begin_ticks = i, .end_ticks = i + 1});
  }
  *took_ns = CudaEnv::now_ticks() - begin_ticks;
  recorder.close();
}

}  // namespace

bool calibrate_cuda_recorder(CudaCheck& check, cudaStream_t stream, double& ns_per_record) {
  RegionRequest request;
  request.lanes = {{.overflow = Overflow::kKeepLast, .producer = "calibration"}};
  request.keep_pages = 2;
  const auto plan = plan_region(request);
  if (!plan) return check.fail(plan.error().message);
  // A small region of its own, and after it the result.
  const std::uint64_t bytes = plan->layout.total_bytes;
  unsigned char* memory = nullptr;
  if (!check(cudaHostAlloc(reinterpret_cast<void**>(&memory), bytes + 64, cudaHostAllocMapped),
             "cudaHostAlloc for the calibration"))
    return false;
  std::memset(memory, 0, bytes + 64);
  std::memcpy(memory, &plan->identity, sizeof(plan->identity));
  std::memcpy(memory + plan->layout.lane_offset(0), plan->lanes.data(), sizeof(LanePlan));
  auto* took_ns = reinterpret_cast<std::uint64_t*>(memory + bytes);
  const RegionView region(memory, plan->layout);
  bool good = true;
  for (int round = 0; good && round < 3; ++round) {
    RegionView parameter = region;
    void* arguments[] = {&parameter, &took_ns};
    good = check(cudaLaunchKernel(&write_records, 1, 1, arguments, 0, stream),
                 "launch of the calibration") &&
           check(cudaStreamSynchronize(stream), "the calibration");
    const double ns = static_cast<double>(*took_ns) / kRecords;
    ns_per_record = round == 0 ? ns : std::min(ns_per_record, ns);
  }
  check(cudaFreeHost(memory), "cudaFreeHost of the calibration");
  return good;
}

}  // namespace tidemark
