// SPDX-License-Identifier: Apache-2.0
// What is still in a region when nobody drains any more: open pages, published pages the drainer
// did not get, and the pages of keep-last lanes. Read once, after the lanes' words. The reading of
// the words is the ledger: a page opened later does not exist, nor a drop counted later.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tidemark/collect/region_port.h"
#include "tidemark/device/region_plan.h"
#include "tidemark/ledger/ledger.h"
#include "tidemark/ledger/page_check.h"
#include "tidemark/ledger/page_sink.h"

namespace tidemark {

enum class Producers {
  kGone,    // nobody writes any more
  kMayRun,  // a lane that is not closed may be written while it is read
};

struct Leftovers {
  std::vector<LaneWordsImage> words;  // one per lane, as the ledger and the capture take them
  std::uint64_t pages = 0;
  FaultCounts faults;
  std::uint64_t refused_bytes = 0;  // of pages that the sink did not take: they are still here
  std::uint64_t cut_pages = 0;      // on their way out of the device when it was lost
  // What a running producer did meanwhile; no fault of anybody.
  std::uint64_t reopened_pages = 0;  // under the reading
  std::uint64_t later_pages = 0;     // opened after the words were read
  std::uint64_t later_drops = 0;     // reasons counted after the total was read
};

// `is_captured` answers for a page's key; captured pages are passed over. Records that could not be
// stored count as file errors in their ledger. After a page that was refused no later page of its
// lane is stored, so that a second collection finds the rest in order.
Leftovers collect_leftovers(const RegionPort& port, const RegionPlan& plan,
                            const std::function<bool(const PageHeaderImage&)>& is_captured,
                            PageSink& sink, std::vector<LaneLedger>& ledgers,
                            Producers producers = Producers::kGone);

// How many bytes of a page's payload a record or a fragment left a trace in. Nobody writes it.
std::uint64_t readable_bytes(const RegionPort& port, const RegionPlan& plan, PageIndex page);

// The plan as the region itself has it, for a process that did not make it. Checked.
Expected<RegionPlan> read_plan(const RegionPort& port, const std::string& path);

}  // namespace tidemark
