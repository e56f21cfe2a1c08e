// SPDX-License-Identifier: Apache-2.0
// A write beyond the limit on file sizes (ulimit -f) ends a process by SIGXFSZ unless it is asked
// to be an error code. Recorders ask: a full disk must not take the evidence with it.
#pragma once

#include <signal.h>

namespace tidemark {

// A handler of the program's own stays: after it returns the write fails with an error code too.
inline void make_file_size_limit_an_error() {
  struct sigaction now {};
  if (::sigaction(SIGXFSZ, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
    ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace tidemark
