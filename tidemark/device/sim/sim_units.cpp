// SPDX-License-Identifier: Apache-2.0
// Schedulers and threads of the simulated device, once for all programs.
#include "tidemark/device/sim/sim_threads.h"

namespace tidemark {

template void run_sim_threads<SimEnv>(const RuntimeMemory&, RuntimeStatus*, const SimCall<bool>&,
                                      const RegionView*, SimCore, const SimCall<void>&);

}  // namespace tidemark
