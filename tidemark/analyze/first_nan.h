// SPDX-License-Identifier: Apache-2.0
// Where the NaNs and infinities of a run come from: the first task in time that wrote one although
// no tensor it read had one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tidemark/analyze/dump_index.h"

namespace tidemark {

// Indices are of DumpIndex::entries.
struct NanReport {
  std::size_t tasks_wrote = 0;  // at least one
  // What the first task wrote that made one; nothing: nobody made one of clean inputs.
  std::optional<std::size_t> made;
  std::vector<std::size_t> clean_inputs;  // of that task
  // The first of all, whoever wrote it; nothing: there is none.
  std::optional<std::size_t> seen;
};

// kNan: infinities are no news, as where a mask is made of them.
enum class NotFinite { kNanOrInfinity, kNan };

// By the statistics of tensors: of one that has none nothing is known.
NanReport find_first_nan(const DumpIndex& index, NotFinite what = NotFinite::kNanOrInfinity);

}  // namespace tidemark
