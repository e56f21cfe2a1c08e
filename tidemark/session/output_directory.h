// SPDX-License-Identifier: Apache-2.0
// The directory of one run: made, refused, or found.
#pragma once

#include <string>

#include "tidemark/base/expected.h"

namespace tidemark {

inline constexpr const char* kCaptureFile = "capture.tide";

// Creates the directory with its parents. A directory that holds a run is refused unless `force`,
// and even then if that run was never recovered.
Expected<void> make_output_directory(const std::string& path, bool force);

// outputs/<workload>_<case>_<YYYYMMDD_HHMMSS>, with a number behind it if that is taken.
std::string default_output_directory(const std::string& workload, const std::string& case_name);

// The newest run below outputs/.
Expected<std::string> newest_run();

}  // namespace tidemark
