// SPDX-License-Identifier: Apache-2.0
// The part of 'bench runtime' that counts live writers instead of tasks.
#pragma once

#include "tidemark/bench/bench_options.h"

namespace tidemark::bench {

Expected<int> bench_tiles(const RuntimeBenchOptions& options, const BenchOutput& out);

}  // namespace tidemark::bench
