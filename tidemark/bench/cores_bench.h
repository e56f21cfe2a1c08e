// SPDX-License-Identifier: Apache-2.0
// The part of 'bench runtime' that counts whether every core gets a task.
#pragma once

#include "tidemark/bench/bench_options.h"

namespace tidemark::bench {

Expected<int> bench_cores(const RuntimeBenchOptions& options, const BenchOutput& out);

}  // namespace tidemark::bench
