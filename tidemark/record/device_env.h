// SPDX-License-Identifier: Apache-2.0
// What the recorder asks of a device: its clock, and how a thread of it waits. A platform has one
// such leaf (device/sim/sim_env.h, device/cuda/cuda_env.cuh). Besides, where it has them:
// Env::kLookEvery says in how many rounds of waiting to look at words of the host, if that is slow;
// Env::kLooksLate says that a branch is slow there (record/recorder.h);
// Env::place() says where the thread runs (transport/at_line.h);
// Env::fault_point(point) can be asked to fail at named points; Env::accepted(write) hears of every
// record and frame as it is in its page. An Env without them pays for none.
#pragma once

#include <concepts>
#include <cstdint>

namespace tidemark {

template <class Env>
concept DeviceEnv = requires(std::uint32_t round) {
  { Env::now_ticks() } -> std::same_as<std::uint64_t>;
  Env::pause(round);  // backs off, for at most 1 ms
};

}  // namespace tidemark
