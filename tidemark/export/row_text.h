// SPDX-License-Identifier: Apache-2.0
// Rows of large JSON files, formatted without a JSON library in between: a run may have tens of
// millions of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "tidemark/run/description.h"
#include "tidemark/run/json_fields.h"

namespace tidemark {

// Times in microseconds since launch, with four decimals: tenths of a nanosecond.
class RowClock {
 public:
  explicit RowClock(const RunClock& clock)
      : launch_ticks_(clock.launch_ticks),
        tenths_per_tick_(1e10 / static_cast<double>(clock.ticks_per_second)) {}

  // A damaged clock may say anything; what it says must still be a number.
  [[nodiscard]] std::int64_t tenths(std::uint64_t ticks) const {
    const double value =
        static_cast<double>(static_cast<std::int64_t>(ticks - launch_ticks_)) * tenths_per_tick_;
    return std::llround(std::clamp(value, -kTenthsMax, kTenthsMax));
  }
  static void put(std::string& out, std::int64_t tenths) {
    if (tenths < 0) {
      out.push_back('-');
      tenths = -tenths;
    }
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}.{:04}"), tenths / 10'000,
                   tenths % 10'000);
  }
  // `key` comes with its quotes, comma and colon.
  void put_time(std::string& out, std::string_view key, std::uint64_t ticks) const {
    out.append(key);
    put(out, tenths(ticks));
  }

 private:
  static constexpr double kTenthsMax = 4e18;
  std::uint64_t launch_ticks_;
  double tenths_per_tick_;
};

}  // namespace tidemark
