// SPDX-License-Identifier: Apache-2.0

#include "tidemark/base/monotonic_clock.h"
#include "tidemark/device/cuda/cuda_clock.cuh"
#include "tidemark/device/cuda/cuda_env.cuh"
#include "tidemark/transport/shared_word.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kQuestions = 64;
constexpr std::uint64_t kPatienceNs = 2'000'000'000;

struct ClockTalk {
  alignas(128) SharedWord<std::uint64_t> question;  // writer: host
  alignas(128) SharedWord<std::uint64_t> answer;    // writer: GPU
  SharedWord<std::uint64_t> ticks;                  // writer: GPU, before the answer
};

__global__ void answer_clock(ClockTalk* talk) {
  const std::uint64_t begin_ticks = CudaEnv::now_ticks();
  for (std::uint64_t number = 1; number <= kQuestions; ++number) {
    while (talk->question.load_acquire() < number)  // pairs with [clock asked]
      if (CudaEnv::now_ticks() - begin_ticks > kPatienceNs) return;
    talk->ticks.store_relaxed(CudaEnv::now_ticks());
    talk->answer.store_release(number);  // [clock answered]
  }
}

bool ask(ClockTalk* talk, std::uint64_t number, ClockSample& sample) {
  const std::uint64_t before_ns = monotonic_ns();
  talk->question.store_release(number);         // [clock asked]
  while (talk->answer.load_acquire() < number)  // pairs with [clock answered]
    if (monotonic_ns() - before_ns > kPatienceNs) return false;
  const std::uint64_t after_ns = monotonic_ns();
  sample = {.device_ticks = talk->ticks.load_relaxed(),
            .host_ns = before_ns + (after_ns - before_ns) / 2,
            .real_ns = clock_ns(CLOCK_REALTIME),
            .uncertainty_ns = (after_ns - before_ns) / 2 + 1};
  sample.real_ns -= (after_ns - before_ns) / 2;
  return true;
}

}  // namespace

bool sample_cuda_clock(CudaCheck& check, cudaStream_t stream, ClockSample& sample) {
  ClockTalk* talk = nullptr;
  if (!check(cudaHostAlloc(reinterpret_cast<void**>(&talk), sizeof(ClockTalk), cudaHostAllocMapped),
             "cudaHostAlloc for the clock"))
    return false;
  talk->question.store_relaxed(0);
  talk->answer.store_relaxed(0);
  void* arguments[] = {&talk};
  bool good = check(cudaLaunchKernel(&answer_clock, 1, 1, arguments, 0, stream),
                    "launch of the clock kernel");
  for (std::uint64_t number = 1; good && number <= kQuestions; ++number) {
    ClockSample answer;
    if (!ask(talk, number, answer))
      good = check.fail(fmt::format("CUDA device {} does not answer: no kernel ran within {} s",
                                    check.device(), kPatienceNs / 1'000'000'000));
    if (number == 1 || answer.uncertainty_ns < sample.uncertainty_ns) sample = answer;
  }
  good = check(cudaStreamSynchronize(stream), "cudaStreamSynchronize after the clock") && good;
  check(cudaFreeHost(talk), "cudaFreeHost of the clock");
  return good;
}

}  // namespace tidemark
