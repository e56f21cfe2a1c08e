// SPDX-License-Identifier: Apache-2.0
// index.json of a run of which there are no tiles: not yet, or because it recorded nothing, or
// because its capture cannot be read. It says what the run was all the same.
#pragma once

#include <string>

#include "tidemark/run/run_report.h"

namespace tidemark {

struct BareIndex {
  const RunReport* report = nullptr;  // null: not read yet, or not readable
  bool live = false;
  std::string pending = {};  // what is being done; or
  std::string error = {};    // why there is nothing
};
std::string to_json(const BareIndex& index);

// "paged_attention Case2 on sim".
std::string run_title(const RunReport& report);

}  // namespace tidemark
