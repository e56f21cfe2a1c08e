// SPDX-License-Identifier: Apache-2.0
// The two files of an autopsy.
#pragma once

#include <string>

#include "tidemark/analyze/hang_report.h"

namespace tidemark {

// hang.json for tools, hang.txt for people.
Expected<void> write_hang_files(const HangReport& report, const std::string& directory);

}  // namespace tidemark
