// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/part_file.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

namespace tidemark {

Expected<PartFile> PartFile::create(const std::string& path) {
  PartFile made;
  made.path_ = path;
  std::error_code code;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, code);
  made.file_ = std::fopen((path + ".part").c_str(), "wbe");
  if (made.file_ == nullptr) return file_failure("create", path + ".part");
  return made;
}

PartFile::PartFile(PartFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, nullptr)) {}

PartFile::~PartFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink((path_ + ".part").c_str());
}

// An error stays with the file and is told by finish.
void PartFile::write(std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), file_); }

Expected<void> PartFile::finish() {
  const bool failed = std::ferror(file_) != 0 || std::fflush(file_) != 0;
  std::fclose(file_);
  file_ = nullptr;
  const std::string part = path_ + ".part";
  if (failed) {
    ::unlink(part.c_str());
    return failure(ErrorKind::kFile, "write {}: the file system refused (full?)", path_);
  }
  if (std::rename(part.c_str(), path_.c_str()) != 0) return file_failure("rename", part);
  return {};
}

}  // namespace tidemark
