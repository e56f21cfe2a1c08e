// SPDX-License-Identifier: Apache-2.0
// Hands out the bytes of a fuzzer's input one decision at a time; when they are used up, zeros.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace tidemark::fuzz {

class ByteSource {
 public:
  explicit ByteSource(std::span<const unsigned char> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool done() const { return bytes_.empty(); }

  template <class T>
  T take() {
    T value{};
    const std::size_t size = bytes_.size() < sizeof(T) ? bytes_.size() : sizeof(T);
    if (size > 0) std::memcpy(&value, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }

  // 0 .. count - 1.
  std::uint32_t below(std::uint32_t count) { return take<std::uint8_t>() % count; }

  std::span<const unsigned char> take_bytes(std::size_t most) {
    const auto taken = bytes_.first(bytes_.size() < most ? bytes_.size() : most);
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const unsigned char> bytes_;
};

// The generator of the seeded tests (splitmix64).
class SeededBits {
 public:
  explicit SeededBits(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t count) { return next() % count; }

 private:
  std::uint64_t state_;
};

}  // namespace tidemark::fuzz
