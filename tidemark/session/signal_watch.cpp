// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/signal_watch.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "tidemark/base/check.h"

namespace tidemark {
namespace {

std::atomic<int> first_signal{0};
std::atomic<int> event_fd{-1};

void on_signal(int number) {
  const int saved_errno = errno;
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(event_fd.load(), &one, sizeof(one));
  errno = saved_errno;
}

}  // namespace

SignalWatch::SignalWatch() {
  TM_CHECK(event_fd.load() == -1);  // one watch at a time
  first_signal = 0;
  event_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &old_int_);
  ::sigaction(SIGTERM, &action, &old_term_);
}

SignalWatch::~SignalWatch() {
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
  ::close(event_fd.exchange(-1));
}

int SignalWatch::fd() const { return event_fd.load(); }
int SignalWatch::signal() const { return first_signal.load(); }

}  // namespace tidemark
