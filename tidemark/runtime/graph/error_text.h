// SPDX-License-Identifier: Apache-2.0
// A short text with numbers in it, put together where there is no library for that.
#pragma once

#include <cstdint>

#include "tidemark/runtime/runtime_status.h"

namespace tidemark {

class ErrorText {
 public:
  TM_DEVICE ErrorText& add(const char* text) {
    for (; *text != 0; ++text) put(*text);
    return *this;
  }
  TM_DEVICE ErrorText& add(std::uint64_t number) {
    char digits[20];
    std::uint32_t count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0) put(digits[--count]);
    return *this;
  }
  TM_DEVICE const char* text() const { return text_; }

 private:
  TM_DEVICE void put(char letter) {
    if (length_ + 1 < kStatusTextBytes) text_[length_++] = letter;
  }

  char text_[kStatusTextBytes] = {};
  std::uint32_t length_ = 0;
};

}  // namespace tidemark
