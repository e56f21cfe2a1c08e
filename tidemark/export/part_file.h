// SPDX-License-Identifier: Apache-2.0
// A file that is written as a stream and put in place whole by rename: nobody ever sees a part of
// it, and two that write the same path do not meet. Folders on the way are made. Its mode is
// file_mode().
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "tidemark/base/expected.h"

namespace tidemark {

class PartFile {
 public:
  static Expected<PartFile> create(const std::string& path);
  PartFile(PartFile&&) noexcept = default;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();  // without finish: nothing is left behind

  [[nodiscard]] std::FILE* file() const { return file_.get(); }
  // An error stays with the file and is returned by finish.
  void write(std::string_view bytes);
  // Instead of `write`: text gathered in memory until there is enough of it.
  [[nodiscard]] std::string& text() { return text_; }
  void flush_if_full();
  Expected<void> finish();

 private:
  PartFile() = default;
  void flush();

  std::string path_;
  std::string part_;  // its name until it is whole
  std::string text_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, &std::fclose};
};

// One text as a file.
Expected<void> write_part_file(const std::string& path, std::string_view text);

}  // namespace tidemark
