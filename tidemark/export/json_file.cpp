// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/json_file.h"

#include <unistd.h>

namespace tidemark {
namespace {

constexpr int kDecimalPlaces = 4;  // times are microseconds: a tenth of a nanosecond

}  // namespace

Expected<std::unique_ptr<JsonFile>> JsonFile::create(const std::string& path) {
  std::unique_ptr<JsonFile> file(new JsonFile);
  file->path_ = path;
  file->file_ = std::fopen((path + ".part").c_str(), "wbe");
  if (file->file_ == nullptr) return file_failure("create", path + ".part");
  file->stream_ = std::make_unique<rapidjson::FileWriteStream>(file->file_, file->buffer_,
                                                               sizeof(file->buffer_));
  file->writer_ = std::make_unique<Writer>(*file->stream_);
  file->writer_->SetMaxDecimalPlaces(kDecimalPlaces);
  return file;
}

JsonFile::~JsonFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  ::unlink((path_ + ".part").c_str());
}

Expected<void> JsonFile::finish() {
  line_break();
  stream_->Flush();
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
