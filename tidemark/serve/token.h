// SPDX-License-Identifier: Apache-2.0
// The secret in the address that `serve` prints: who does not know it gets nothing, also on this
// machine. It is different each time.
#pragma once

#include <string>
#include <string_view>

#include "tidemark/base/expected.h"

namespace tidemark {

// 128 random bits of the system, as 32 hexadecimal digits.
Expected<std::string> make_token();

// Takes as long for any two texts of one length, so that nobody can guess a token bit by bit.
bool is_same_secret(std::string_view given, std::string_view secret);

}  // namespace tidemark
