// SPDX-License-Identifier: Apache-2.0
// A file that is written as a stream and put in place whole by rename: nobody ever sees a part of
// it, and two that write the same path do not meet. Folders on the way are made. Its mode is
// file_mode().
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "tidemark/base/expected.h"

namespace tidemark {

class PartFile {
 public:
  static Expected<PartFile> create(const std::string& path);
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();  // without finish: nothing is left behind

  [[nodiscard]] std::FILE* file() const { return file_; }
  void write(std::string_view bytes);
  Expected<void> finish();

 private:
  PartFile() = default;

  std::string path_;
  std::string part_;  // its name until it is whole
  std::FILE* file_ = nullptr;
};

// Text gathered in memory until there is enough of it to write.
class BufferedPart {
 public:
  explicit BufferedPart(PartFile file) : file_(std::move(file)) { text_.reserve(kFlushBytes * 2); }

  [[nodiscard]] std::string& text() { return text_; }
  void flush_if_full() {
    if (text_.size() >= kFlushBytes) flush();
  }
  Expected<void> finish() {
    flush();
    return file_.finish();
  }

 private:
  static constexpr std::size_t kFlushBytes = 256 * 1024;
  void flush() {
    file_.write(text_);
    text_.clear();
  }

  PartFile file_;
  std::string text_;
};

}  // namespace tidemark
