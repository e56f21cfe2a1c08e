// SPDX-License-Identifier: Apache-2.0
// What the scopes of a run held: peaks per site, the resource that came closest to its limit, and
// the smallest sizes that would have been enough.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/run/run_capture.h"
#include "tidemark/schema/scope_boundary.h"

namespace tidemark {

// One limit of the runtime: a pool of one ring, or the tensor map.
struct ResourceUse {
  std::string resource;  // as errors name it
  std::uint32_t ring = 0;
  bool has_ring = true;
  std::uint64_t peak = 0;
  std::uint64_t capacity = 0;
  std::string site;  // the innermost scope in which the peak was reached
  std::string flag;
  std::uint64_t needed = 0;  // the smallest value of the flag that would have been enough

  [[nodiscard]] double percent() const {
    return capacity == 0 ? 0 : 100.0 * static_cast<double>(peak) / static_cast<double>(capacity);
  }
  // It may have held the run back.
  [[nodiscard]] bool is_nearly_full() const { return percent() > 90; }
};

// "heap of ring 0".
std::string place_text(const ResourceUse& use);
// A number of the resource: of a heap as bytes.
std::string amount_text(const ResourceUse& use, std::uint64_t value);
// "the heap of ring 0 (3.0 MiB of 4.0 MiB, 75.00 %), in the scope at a.h:7; set by --ring-heap".
std::string limit_text(const ResourceUse& use);

struct ScopeSite {
  std::string site;
  std::uint32_t depth = 0;
  std::uint32_t ring = 0;
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
  ScopePeaks peaks;
  double percent = 0;  // of the resource that came closest to its limit
  std::string closest;
  // The site of the scope around, in ScopeReport::sites; nothing: none, several, or not recorded.
  std::optional<std::size_t> parent;
};

struct ScopeReport {
  RuntimeConfig config;
  bool fatal = false;
  std::uint64_t dropped = 0;  // boundaries that were not recorded
  std::uint64_t boundaries = 0;
  std::uint64_t unfinished = 0;        // scopes begun and not ended
  std::vector<ScopeSite> sites;        // worst first
  std::vector<ResourceUse> resources;  // ring by ring, then the tensor map
  // The flags with the smallest values that would have been enough for this run.
  [[nodiscard]] std::string smallest_settings() const;
  // Null: nothing was used at all.
  [[nodiscard]] const ResourceUse* closest_to_limit() const;
};

Expected<ScopeReport> report_scopes(RunCapture& run);

}  // namespace tidemark
