// SPDX-License-Identifier: Apache-2.0
// Answers a compiler that is not in C++20 mode with one line instead of a page of errors. The
// include of a file that does not exist ends the compilation there.
#pragma once

#if __cplusplus < 202002L
#error "Tidemark needs C++20: compile with -std=c++20 (CMake: link tidemark::tidemark)"
#include "Tidemark needs -std=c++20"
#endif
