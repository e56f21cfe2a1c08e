// SPDX-License-Identifier: Apache-2.0
// The flags that say which arguments of which tasks are dumped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/base/command.h"
#include "tidemark/base/expected.h"
#include "tidemark/schema/dump_selection.h"

namespace tidemark::cli {

struct DumpOptions {
  std::string level;  // empty: off
  std::vector<std::string> selects;
  std::uint64_t max_bytes = 0;
  std::uint64_t scratch_bytes = 1 << 20;
};

void bind_dump_options(Command& command, DumpOptions& options);
// Checks and translates; the error names the flag and the part of it.
Expected<DumpSelection> plan_dump(const DumpOptions& options,
                                  const std::vector<std::string>& kernels);

}  // namespace tidemark::cli
