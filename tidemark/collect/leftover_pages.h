// SPDX-License-Identifier: Apache-2.0
// What is still in a region when nobody publishes any more: open pages, published pages the drainer
// did not get, and the pages of keep-last lanes. Read once, after the lanes' words; that reading is
// the ledger, and whatever a producer writes later does not exist.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tidemark/collect/ledger.h"
#include "tidemark/collect/page_check.h"
#include "tidemark/collect/page_sink.h"
#include "tidemark/collect/region_port.h"
#include "tidemark/device/region_plan.h"

namespace tidemark {

struct Leftovers {
  std::vector<LaneWordsImage> words;  // one per lane
  std::uint64_t pages = 0;
  FaultCounts faults;
};

// `is_captured` answers for a page's key; captured pages are passed over. Records that could not be
// stored count as file errors in their ledger.
Leftovers collect_leftovers(const RegionPort& port, const RegionPlan& plan,
                            const std::function<bool(const PageHeaderImage&)>& is_captured,
                            PageSink& sink, std::vector<LaneLedger>& ledgers);

// The plan as the region itself tells it, for a process that did not make it. Checked.
Expected<RegionPlan> read_plan(const RegionPort& port, const std::string& path);

}  // namespace tidemark
