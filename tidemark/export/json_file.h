// SPDX-License-Identifier: Apache-2.0
// A JSON file written as a stream, in constant memory, and put in place whole by rename.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <rapidjson/filewritestream.h>
#include <rapidjson/writer.h>

#include "tidemark/export/part_file.h"
#include "tidemark/run/json_fields.h"

namespace tidemark {

class JsonFile {
 public:
  using Writer = rapidjson::Writer<rapidjson::FileWriteStream>;

  explicit JsonFile(PartFile file)
      : file_(std::move(file)), stream_(file_.file(), buffer_.data(), buffer_.size()) {
    writer_.SetMaxDecimalPlaces(kDecimalPlaces);
  }
  JsonFile(JsonFile&&) = delete;  // its parts point at each other

  [[nodiscard]] Writer& json() { return writer_; }
  // One row per line keeps large files readable and diffable.
  void line_break() { stream_.Put('\n'); }
  Expected<void> finish() {
    line_break();
    stream_.Flush();
    return file_.finish();
  }

 private:
  static constexpr int kDecimalPlaces = 4;  // times are microseconds: a tenth of a nanosecond

  PartFile file_;
  std::vector<char> buffer_ = std::vector<char>(64 * 1024);
  rapidjson::FileWriteStream stream_;
  Writer writer_{stream_};
};

// One object as a file; `fill(file)` puts its members.
template <class Fill>
Expected<void> write_json(const std::string& path, const Fill& fill) {
  TM_TRY(auto part, PartFile::create(path));
  JsonFile file(std::move(part));
  put_object(file.json(), [&] { fill(file); });
  return file.finish();
}

// An array of one object per item and line.
template <class Items, class Fill>
void put_lines(JsonFile& file, std::string_view key, const Items& items, const Fill& fill) {
  put_key(file.json(), key);
  file.json().StartArray();
  for (const auto& item : items) {
    file.line_break();
    put_object(file.json(), [&] { fill(item); });
  }
  file.json().EndArray();
}

}  // namespace tidemark
