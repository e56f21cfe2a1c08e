// SPDX-License-Identifier: Apache-2.0
// Names of functions as people write them.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

// "tidemark::CopyOrHang::run" of "void tidemark::CopyOrHang::run<Block>(Block&, Args const&) [clone
// x]" and of its mangled name: without result, arguments, template arguments and launch.
std::string plain_function_name(std::string_view name);

}  // namespace tidemark
