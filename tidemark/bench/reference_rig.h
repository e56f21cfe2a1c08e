// SPDX-License-Identifier: Apache-2.0
// The reference under measurement: as many exchanges as lanes, over the same kind of memory and the
// same sink.
#pragma once

#include "tidemark/bench/bench_options.h"
#include "tidemark/ledger/page_sink.h"

namespace tidemark::bench {

// page_count is what the recorder has for all its lanes.
double reference_end_to_end(const BenchOptions& options, std::uint32_t page_count,
                            std::uint64_t records, PageSink* sink);
double reference_ns_per_record(const BenchOptions& options, std::uint32_t page_count,
                               double ticks_per_ns, PageSink* sink);

}  // namespace tidemark::bench
