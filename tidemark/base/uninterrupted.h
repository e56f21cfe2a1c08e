// SPDX-License-Identifier: Apache-2.0
// A system call that a signal interrupted has done nothing: it is made again.
#pragma once

#include <cerrno>

namespace tidemark {

// `call` returns -1 and sets errno as system calls do.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace tidemark
