// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/scope_report.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "tidemark/base/align.h"
#include "tidemark/base/human_text.h"
#include "tidemark/schema/resource.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {
namespace {

// The resources in the order of the report.
struct Limit {
  Resource resource;
  std::uint32_t ring;
};

std::vector<Limit> all_limits() {
  std::vector<Limit> limits;
  for (const Resource resource : {Resource::kTaskWindow, Resource::kHeap, Resource::kDepPool,
                                  Resource::kFanin, Resource::kArguments})
    for (std::uint32_t ring = 0; ring < kRingCount; ++ring) limits.push_back({resource, ring});
  limits.push_back({Resource::kTensorMap, 0});
  return limits;
}

// Of each resource, in the order of Resource.
using ByResource = std::array<std::uint64_t, kResourceCount>;

std::uint64_t peak_of(const ScopePeaks& peaks, const Limit& limit) {
  const std::uint32_t i = limit.ring;
  return ByResource{0,
                    peaks.tasks[i],
                    peaks.heap_bytes[i],
                    peaks.deps[i],
                    peaks.fanin[i],
                    peaks.map_entries,
                    peaks.args_bytes[i]}[static_cast<std::size_t>(limit.resource)];
}

std::uint64_t capacity_of(const RuntimeConfig& config, const Limit& limit) {
  const RingSizes& ring = config.rings[limit.ring];
  return ByResource{0,
                    ring.task_window,
                    ring.heap_bytes,
                    ring.dep_pool,
                    ring.dep_pool,
                    config.tensormap_entries,
                    args_bytes_of(ring)}[static_cast<std::size_t>(limit.resource)];
}

// One slot of a window stays free. A piece of heap that does not fit before the end of the ring is
// skipped: at worst as much as the largest request needs, less its own alignment.
std::uint64_t needed_for(const Limit& limit, const ScopePeaks& peaks) {
  const std::uint64_t peak = peak_of(peaks, limit);
  switch (limit.resource) {
    case Resource::kTaskWindow:
      return std::max<std::uint64_t>(kTaskWindowMin, round_up_to_power_of_two(peak + 1));
    case Resource::kHeap: {
      const std::uint64_t request = round_up(peaks.heap_request[limit.ring], kHeapAlign);
      const std::uint64_t skipped = request > kHeapAlign ? request - kHeapAlign : 0;
      return std::max(kHeapBytesMin, round_up(peak, kHeapAlign) + (peak > request ? skipped : 0));
    }
    case Resource::kArguments:  // as for the heap; no task asks for more than the smallest ring
      return std::max(kArgsBytesMin, peak + (peak > 0 ? kTaskArgsBytesMax : 0));
    case Resource::kTensorMap:
      return std::max<std::uint64_t>(kTensormapMin, peak);
    default:
      return std::max<std::uint64_t>(kDepPoolMin, peak);
  }
}

class ScopeCounter {
 public:
  ScopeCounter(RunCapture& run, ScopeReport& report)
      : run_(run), report_(report), limits_(all_limits()), reached_(limits_.size()) {}

  void take(const ScopeBoundary& boundary) {
    ++report_.boundaries;
    ScopeSite& site = sites_[{boundary.file, boundary.line}];
    while (!open_.empty() && open_.back().depth >= boundary.depth) open_.pop_back();
    if (boundary.phase == ScopeBoundary::Phase::kBegin) {
      note_parent(boundary);
      site.site = run_.site_of(boundary.file, boundary.line);
      site.depth = std::max<std::uint32_t>(site.depth, boundary.depth);
      site.ring = boundary.ring;
      ++site.count;
      begun_[boundary.serial] = boundary;
      return;
    }
    if (site.site.empty()) site.site = run_.site_of(boundary.file, boundary.line);
    const auto begun = begun_.find(boundary.serial);
    const bool knows_begin = begun != begun_.end();
    if (knows_begin) note_time(site, begun->second, boundary);
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      const std::uint64_t peak = peak_of(boundary.peaks, limits_[i]);
      // An inner scope ends before the one around it, which has at least the same peaks. What was
      // in use when a scope began was not its doing.
      if (peak <= reached_[i].peak) continue;
      if (knows_begin && peak <= peak_of(begun->second.peaks, limits_[i])) continue;
      reached_[i] = {.peak = peak, .site = site.site};
    }
    if (knows_begin) begun_.erase(begun);
    raise(site.peaks, boundary.peaks);
    raise(all_, boundary.peaks);
  }

  void finish() {
    report_.unfinished = begun_.size();
    for (std::size_t i = 0; i < limits_.size(); ++i)
      report_.resources.push_back({.resource = std::string(to_text(limits_[i].resource)),
                                   .ring = limits_[i].ring,
                                   .has_ring = limits_[i].resource != Resource::kTensorMap,
                                   .peak = reached_[i].peak,
                                   .capacity = capacity_of(report_.config, limits_[i]),
                                   .site = reached_[i].site,
                                   .flag = resource_flag(limits_[i].resource),
                                   .needed = needed_for(limits_[i], all_)});
    std::vector<SiteKey> order;
    for (auto& [key, site] : sites_) {
      order.push_back(key);
      for (const Limit& limit : limits_) {
        const auto capacity = static_cast<double>(capacity_of(report_.config, limit));
        const auto peak = static_cast<double>(peak_of(site.peaks, limit));
        const double percent = capacity > 0 ? 100.0 * peak / capacity : 0;
        if (percent <= site.percent) continue;
        site.percent = percent;
        site.closest = limit.resource == Resource::kTensorMap
                           ? "tensor map"
                           : fmt::format("{} of ring {}", to_text(limit.resource), limit.ring);
      }
    }
    std::ranges::stable_sort(order, std::greater{},
                             [&](const SiteKey& key) { return sites_[key].percent; });
    std::map<SiteKey, std::size_t> place;
    for (const SiteKey& key : order) place.emplace(key, place.size());
    for (const SiteKey& key : order) {
      ScopeSite& site = report_.sites.emplace_back(sites_[key]);
      const Parents& parents = parents_[key];
      if (parents.parent && !parents.several) site.parent = place[*parents.parent];
    }
  }

 private:
  using SiteKey = std::pair<std::uint64_t, std::uint32_t>;  // file and line
  struct OpenScope {
    std::uint16_t depth;
    SiteKey site;
  };
  struct Parents {
    std::optional<SiteKey> parent;
    bool seen = false;
    bool several = false;
  };

  // A scope whose begin was lost is around nobody that we know.
  void note_parent(const ScopeBoundary& begin) {
    const bool known = !open_.empty() && open_.back().depth + 1 == begin.depth;
    const auto parent = known ? std::optional(open_.back().site) : std::nullopt;
    const SiteKey site{begin.file, begin.line};
    Parents& parents = parents_[site];
    parents.several = parents.several || (parents.seen && parents.parent != parent);
    parents.parent = parent;
    parents.seen = true;
    open_.push_back({begin.depth, site});
  }
  void note_time(ScopeSite& site, const ScopeBoundary& begin, const ScopeBoundary& end) {
    const std::int64_t ns =
        run_.clock().to_ns(end.time_ticks) - run_.clock().to_ns(begin.time_ticks);
    const auto spent = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
    site.total_ns += spent;
    site.longest_ns = std::max(site.longest_ns, spent);
  }

  struct Reached {
    std::uint64_t peak = 0;
    std::string site;
  };
  RunCapture& run_;
  ScopeReport& report_;
  std::vector<Limit> limits_;
  std::vector<Reached> reached_;
  std::map<SiteKey, ScopeSite> sites_;
  std::map<SiteKey, Parents> parents_;
  std::vector<OpenScope> open_;                   // outermost first
  std::map<std::uint32_t, ScopeBoundary> begun_;  // by serial
  ScopePeaks all_;
};

}  // namespace

std::string place_text(const ResourceUse& use) {
  return use.has_ring ? fmt::format("{} of ring {}", use.resource, use.ring) : use.resource;
}

std::string amount_text(const ResourceUse& use, std::uint64_t value) {
  return use.resource == to_text(Resource::kHeap) ? human_bytes(value) : with_commas(value);
}

std::string limit_text(const ResourceUse& use) {
  return fmt::format("the {} ({} of {}, {:.2f} %), in the scope at {}; {} {}", place_text(use),
                     amount_text(use, use.peak), amount_text(use, use.capacity), use.percent(),
                     use.site, use.is_nearly_full() ? "raise" : "set by", use.flag);
}

Expected<ScopeReport> report_scopes(RunCapture& run) {
  if (!run.has(StreamId::kScopes) || !run.runtime())
    return failure(ErrorKind::kUsage, "{}: no scopes were recorded; run with --enable-scope-stats",
                   run.directory());
  ScopeReport report;
  report.config = *run.runtime();
  report.fatal = run.fatal();
  TM_TRY(report.dropped, run.missing(StreamId::kScopes));
  ScopeCounter counter(run, report);
  run.for_each<ScopeBoundary>([&](const auto& boundary, LaneIndex) { counter.take(boundary); });
  counter.finish();
  return report;
}

const ResourceUse* ScopeReport::closest_to_limit() const {
  const auto worst = std::ranges::max_element(resources, {}, &ResourceUse::percent);
  return worst == resources.end() || worst->peak == 0 ? nullptr : &*worst;
}

std::string ScopeReport::smallest_settings() const {
  std::map<std::string, std::vector<std::uint64_t>> values;
  std::vector<std::string> order;
  for (const auto& use : resources) {
    auto [found, fresh] = values.emplace(use.flag, std::vector<std::uint64_t>(kRingCount, 0));
    if (fresh) order.push_back(use.flag);
    std::uint64_t& value = found->second[use.ring];
    value = std::max(value, use.needed);
  }
  std::string text;
  for (const auto& flag : order) {
    const auto& list = values[flag];
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", flag, list[0]);
    if (flag != resource_flag(Resource::kTensorMap))
      for (std::uint32_t ring = 1; ring < kRingCount; ++ring)
        text += fmt::format(",{}", list[ring]);
  }
  return text;
}

}  // namespace tidemark
