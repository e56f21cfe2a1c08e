// SPDX-License-Identifier: Apache-2.0
// A file descriptor that a child of a fork does not keep. A lock belongs to the open file, and a
// child that inherits it would hold it for its whole life.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace tidemark {

class ForkClosed {
 public:
  ForkClosed() = default;
  // The descriptor stays the caller's; it must outlive this object.
  explicit ForkClosed(int fd) {
    static const int registered = ::pthread_atfork(nullptr, nullptr, &close_all);
    static_cast<void>(registered);
    for (auto& slot : slots()) {
      int free = kFree;
      if (!slot.compare_exchange_strong(free, fd)) continue;
      slot_ = &slot;
      return;
    }  // no place left: the child keeps the descriptor, as it would without this
  }
  ForkClosed(ForkClosed&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  ForkClosed& operator=(ForkClosed&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~ForkClosed() {
    if (slot_ != nullptr) slot_->store(kFree);
  }

 private:
  static constexpr int kFree = -1;
  struct Slot : std::atomic<int> {
    Slot() : std::atomic<int>(kFree) {}
  };
  using Slots = std::array<Slot, 64>;
  static Slots& slots() {
    static Slots all;
    return all;
  }
  // In the child, which has one thread.
  static void close_all() {
    for (auto& slot : slots())
      if (const int fd = slot.exchange(kFree); fd != kFree) ::close(fd);
  }

  Slot* slot_ = nullptr;
};

}  // namespace tidemark
