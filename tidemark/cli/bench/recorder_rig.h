// SPDX-License-Identifier: Apache-2.0
// The recorder under measurement: a region, its drainer and producer threads in this process.
#pragma once

#include <memory>

#include "tidemark/cli/bench/bench_options.h"
#include "tidemark/collect/drainer.h"
#include "tidemark/device/region_file.h"

namespace tidemark::cli {

class RecorderRig {
 public:
  // Set up outside the measured time; the region is in place and faulted in.
  static Expected<std::unique_ptr<RecorderRig>> create(const BenchOptions& options, PageSink* sink);
  ~RecorderRig();

  // Every lane writes `records`; ends when the last one is in the sink.
  EndToEnd run(std::uint64_t records);
  // One lane writes bursts that fit into the pages it holds; the median cost of a record.
  double burst_ns_per_record();
  // Fills all pages with the drainer asleep, lets it drain them, and again; only draining counts.
  struct Moved {
    double bytes = 0;
    double seconds = 0;
  };
  Moved drain_full_pages(std::uint32_t fills);
  [[nodiscard]] std::uint32_t pool_pages() const { return plan_.pool_page_count(); }

 private:
  RecorderRig() = default;

  BenchOptions options_;
  RegionPlan plan_;
  RegionFile file_;
  RegionPort port_;
  RegionMapping mapping_;
  RegionView region_;
  std::unique_ptr<Drainer> drainer_;
};

}  // namespace tidemark::cli
