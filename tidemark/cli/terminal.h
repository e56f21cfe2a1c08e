// SPDX-License-Identifier: Apache-2.0
// The one way from a command to a terminal. What is printed has no control characters, whatever was
// read from a region, a capture or a run directory. A string that is an argument cannot hold a line
// feed either, so that data cannot forge a line of the output.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/core.h>

#include "tidemark/base/plain_text.h"

namespace tidemark::cli {

enum class Stream { kOut, kError };

namespace terminal_detail {

// Strings as plain text of one line, all else as it is.
template <class Arg>
decltype(auto) plain_argument(Arg& arg) {
  if constexpr (std::is_convertible_v<const Arg&, std::string_view>)
    return plain_text(std::string_view(arg));
  else
    return static_cast<const Arg&>(arg);
}

template <class... Plain>
std::string format(fmt::string_view text, const Plain&... plain) {
  return fmt::vformat(text, fmt::make_format_args(plain...));
}

}  // namespace terminal_detail

// Text of many lines that was made here. Names in it are of one line since they were read.
void print_text(std::string_view text, Stream stream = Stream::kOut);
// Our own orders to a terminal, such as "clear the line". Never data.
void print_raw(std::string_view orders, Stream stream = Stream::kOut);
void flush(Stream stream = Stream::kOut);

template <class... Args>
void print(fmt::format_string<Args...> text, Args&&... args) {
  print_text(terminal_detail::format(text, terminal_detail::plain_argument(args)...));
}
template <class... Args>
void print_error(fmt::format_string<Args...> text, Args&&... args) {
  print_text(terminal_detail::format(text, terminal_detail::plain_argument(args)...),
             Stream::kError);
}

// While it lives, everything printed goes into `text` instead. For tests and fuzzers.
class PrintedText {
 public:
  explicit PrintedText(std::string& text);
  ~PrintedText();
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;

 private:
  std::string* before_;
};

}  // namespace tidemark::cli
