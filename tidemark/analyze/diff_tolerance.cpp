// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/diff_tolerance.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tidemark/base/nearest_name.h"

namespace tidemark {
namespace {

std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < kDTypeCount; ++i) names.push_back(to_text(static_cast<DType>(i)));
  return names;
}

// For an error: the nearest name, or the first that has all these letters in this order (bf16).
std::string meant_text(const std::string& asked, const std::vector<std::string_view>& names) {
  if (std::string near = did_you_mean(asked, names); !near.empty() || asked.empty()) return near;
  for (const std::string_view name : names) {
    std::size_t found = 0;
    for (const char letter : name) found += found < asked.size() && asked[found] == letter;
    if (found == asked.size()) return did_you_mean(name, names);
  }
  return {};
}

// The whole of the text as a number.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<DiffTolerance> tolerance_of(std::string_view value) {
  constexpr std::string_view kUlp = "ulp";
  if (value.ends_with(kUlp)) {
    value.remove_suffix(kUlp.size());
    const auto ulps = number_of<std::uint64_t>(value);
    if (!ulps) return std::nullopt;
    return DiffTolerance{.ulps = *ulps};
  }
  const auto number = number_of<double>(value);
  if (!number || !std::isfinite(*number) || *number < 0) return std::nullopt;
  return DiffTolerance{.rtol = *number, .atol = *number};
}

}  // namespace

Expected<void> add_tolerances(const std::string& text, DiffTolerances& tolerances) {
  const auto names = dtype_names();
  std::optional<DiffTolerance> for_others;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    at = comma + 1;
    const auto equals = part.find('=');
    const std::string name = equals == std::string::npos ? "" : part.substr(0, equals);
    const auto known = std::find(names.begin(), names.end(), name);
    if (equals != std::string::npos && known == names.end())
      return failure(ErrorKind::kUsage, "--tolerance {}: no dtype '{}'; there are {}{}", text, name,
                     fmt::join(names, ", "), meant_text(name, names));
    const std::string value = equals == std::string::npos ? part : part.substr(equals + 1);
    const auto tolerance = tolerance_of(value);
    if (!tolerance)
      return failure(
          ErrorKind::kUsage,
          "--tolerance {}: '{}' is neither a number from 0, absolute and relative (1e-3), "
          "nor a whole number of values of the dtype (1ulp)",
          text, value);
    auto& place = equals == std::string::npos
                      ? for_others
                      : tolerances.of_dtype[static_cast<std::size_t>(known - names.begin())];
    if (place)
      return failure(ErrorKind::kUsage, "--tolerance {}: two tolerances for {}", text,
                     equals == std::string::npos ? "all other dtypes" : name);
    place = tolerance;
  }
  if (!for_others) return {};
  if (tolerances.others.rtol > 0 || tolerances.others.atol > 0)
    return failure(ErrorKind::kUsage,
                   "--tolerance {}: --atol and --rtol say already how far all other dtypes may be "
                   "apart",
                   text);
  tolerances.others = *for_others;
  return {};
}

}  // namespace tidemark
