// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/terminal.h"

#include <cstdio>
#include <utility>

namespace tidemark::cli {
namespace {

std::string* sink = nullptr;

std::FILE* file_of(Stream stream) { return stream == Stream::kOut ? stdout : stderr; }

}  // namespace

void print_text(std::string_view text, Stream stream) {
  print_raw(plain_text(text, TextLines::kMany), stream);
}

void print_raw(std::string_view orders, Stream stream) {
  if (sink != nullptr)
    *sink += orders;
  else
    std::fwrite(orders.data(), 1, orders.size(), file_of(stream));
}

void flush(Stream stream) { std::fflush(file_of(stream)); }

PrintedText::PrintedText(std::string& text) : before_(std::exchange(sink, &text)) {}
PrintedText::~PrintedText() { sink = before_; }

}  // namespace tidemark::cli
