// SPDX-License-Identifier: Apache-2.0
// A JSON file written as a stream, in constant memory, and put in place whole by rename.
#pragma once

#include <memory>
#include <string>

#include <rapidjson/filewritestream.h>
#include <rapidjson/writer.h>

#include "tidemark/export/part_file.h"
#include "tidemark/run/json.h"

namespace tidemark {

class JsonFile {
 public:
  using Writer = rapidjson::Writer<rapidjson::FileWriteStream>;

  static Expected<std::unique_ptr<JsonFile>> create(const std::string& path);

  [[nodiscard]] Writer& json() { return *writer_; }
  // One row per line keeps large files readable and diffable.
  void line_break() { stream_->Put('\n'); }
  Expected<void> finish();

 private:
  explicit JsonFile(PartFile file) : file_(std::move(file)) {}

  PartFile file_;
  char buffer_[64 * 1024];
  std::unique_ptr<rapidjson::FileWriteStream> stream_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace tidemark
