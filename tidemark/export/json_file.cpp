// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/json_file.h"

namespace tidemark {
namespace {

constexpr int kDecimalPlaces = 4;  // times are microseconds: a tenth of a nanosecond

}  // namespace

Expected<std::unique_ptr<JsonFile>> JsonFile::create(const std::string& path) {
  auto part = PartFile::create(path);
  if (!part) return tl::unexpected(part.error());
  std::unique_ptr<JsonFile> file(new JsonFile(std::move(*part)));
  file->stream_ = std::make_unique<rapidjson::FileWriteStream>(file->file_.file(), file->buffer_,
                                                               sizeof(file->buffer_));
  file->writer_ = std::make_unique<Writer>(*file->stream_);
  file->writer_->SetMaxDecimalPlaces(kDecimalPlaces);
  return file;
}

Expected<void> JsonFile::finish() {
  line_break();
  stream_->Flush();
  return file_.finish();
}

}  // namespace tidemark
