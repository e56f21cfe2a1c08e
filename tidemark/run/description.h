// SPDX-License-Identifier: Apache-2.0
// The capture's self-description: the first chunk, by which it can be read without this source and
// without run.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemark/capture/capture_reader.h"
#include "tidemark/run/run_report.h"
#include "tidemark/schema/runtime_config.h"
#include "tidemark/transport/lane.h"

namespace tidemark {

struct CaptureDescription {
  RunReport run;  // identity only: what ran, where, with which seed
  std::uint32_t page_bytes = 0;
  std::vector<LanePlan> lanes;
  std::vector<std::string> kernels;  // text by kernel number
  std::optional<RuntimeConfig> runtime;
};

std::string describe_capture(const CaptureDescription& description);
Expected<CaptureDescription> read_description(CaptureReader& reader);

// How a run ended: status, error, counts. A capture without it was never closed by its host.
std::string describe_outcome(const RunReport& report);
std::optional<RunReport> read_outcome(CaptureReader& reader);

// Times of a run: the epoch, the rate, and the readings that relate it to the host's clocks.
struct RunClock {
  std::uint64_t launch_ticks = 0;
  std::uint64_t finish_ticks = 0;
  std::uint64_t ticks_per_second = 0;
  std::vector<ClockSample> anchors;

  [[nodiscard]] double to_us(std::uint64_t ticks) const {
    return (static_cast<double>(ticks) - static_cast<double>(launch_ticks)) * 1e6 /
           static_cast<double>(ticks_per_second);
  }
  // Negative: before launch, where the host builds the graph.
  [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks) const {
    const auto since = static_cast<std::int64_t>(ticks - launch_ticks);
    return static_cast<std::int64_t>(static_cast<__int128>(since) * 1'000'000'000 /
                                     static_cast<std::int64_t>(ticks_per_second));
  }
};

std::string describe_clock(const RunClock& clock);
RunClock read_clock(CaptureReader& reader);

using NameTexts = std::map<std::uint64_t, std::string>;

std::string describe_names(const NameTexts& names);
NameTexts read_names(CaptureReader& reader);

}  // namespace tidemark
