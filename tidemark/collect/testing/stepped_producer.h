// SPDX-License-Identifier: Apache-2.0
// Test support: producers that stop before every single store into the region, so that a test can
// play the host there, or end the device there by throwing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace stepped {

enum class Stop { kStore, kPause };

// Called before each shared store and in each pause of every producer of this process.
void observe(std::function<void(Stop)> observer);

// Record number `number` of the lane, or frame `number` with `bytes` of payload.
class Producer {
 public:
  Producer(void* region, std::uint32_t lane, bool framed);
  ~Producer();

  bool write(std::uint64_t number);
  bool write_frame(std::uint64_t number, std::uint32_t bytes);
  void flush();
  void close();

 private:
  struct Writers;
  std::unique_ptr<Writers> writers_;
};

// What write_frame puts at byte `at` of frame `number`.
inline unsigned char frame_byte(std::uint64_t number, std::uint64_t at) {
  return static_cast<unsigned char>((number * 131 + at * 29) ^ (at >> 8));
}

}  // namespace stepped
