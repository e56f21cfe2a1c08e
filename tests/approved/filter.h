// SPDX-License-Identifier: Apache-2.0
// The stated filter: everything that is replaced in a program's output before it is compared with
// the approved text. Nothing else is. filter.cpp has the lists, with the reason of each entry.
#pragma once

#include <string>

namespace tidemark::approved {

// `directory`: where the commands ran; it becomes <dir>.
std::string filtered(const std::string& text, const std::string& directory);

}  // namespace tidemark::approved
