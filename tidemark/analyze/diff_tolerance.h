// SPDX-License-Identifier: Apache-2.0
// How far two elements may be apart and still agree, for each dtype.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tidemark/base/expected.h"
#include "tidemark/schema/dtype.h"

namespace tidemark {

// |a - b| <= atol + rtol |b|, or at most `ulps` values of the dtype from one to the other.
struct DiffTolerance {
  double rtol = 0;
  double atol = 0;
  std::uint64_t ulps = 0;
};

struct DiffTolerances {
  DiffTolerance others;  // of scalars, and of tensors whose dtype has none of its own
  std::array<std::optional<DiffTolerance>, kDTypeCount> of_dtype;

  [[nodiscard]] const DiffTolerance& of_tensors(DType dtype) const {
    const auto index = static_cast<std::size_t>(dtype);
    return index < kDTypeCount && of_dtype[index] ? *of_dtype[index] : others;
  }
};

// "float32=1e-3,bfloat16=1ulp" of the flag --tolerance: a number is an absolute and a relative
// tolerance. A part without a dtype is for every dtype that has none of its own. The error names
// the flag and the part.
Expected<void> add_tolerances(const std::string& text, DiffTolerances& tolerances);

}  // namespace tidemark
