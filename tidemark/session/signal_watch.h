// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM as something to poll for. While a watch lives the first signal of each kind is
// only noted; a second SIGINT ends the process as usual.
#pragma once

#include <csignal>

namespace tidemark {

class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Readable once a signal came.
  [[nodiscard]] int fd() const;
  // The first signal that came; 0 if none did.
  [[nodiscard]] int signal() const;

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace tidemark
