// SPDX-License-Identifier: Apache-2.0
// The recorder under measurement: a region, its drainer, and producers: threads of this process or
// a program on a device.
#pragma once

#include <memory>

#include "tidemark/bench/rounds.h"
#include "tidemark/collect/drainer.h"
#include "tidemark/device/device.h"
#include "tidemark/device/region_file.h"

namespace tidemark::bench {

class RecorderRig {
 public:
  // Set up outside the measured time; the region is in place and faulted in.
  static Expected<std::unique_ptr<RecorderRig>> create(const BenchOptions& options, PageSink* sink,
                                                       std::uint64_t ticks_per_second);

  // Every lane writes `records`; ends when the last one is in the sink.
  EndToEnd run(std::uint64_t records);
  // The same, but a program on a device writes.
  Expected<EndToEnd> run_on(Device& device, LaunchRequest launch, std::uint64_t records);
  // What that program left in the region.
  [[nodiscard]] double figure(std::uint32_t index) const;
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
  void start_drainer();
  EndToEnd sum_up(std::uint64_t records, double wall_ns);

  BenchOptions options_;
  RegionPlan plan_;
  RegionFile file_;
  RegionPort port_;
  MappedMemory mapping_;
  RegionView region_;
  std::unique_ptr<Drainer> drainer_;  // uses all of the above
};

}  // namespace tidemark::bench
