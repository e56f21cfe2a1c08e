// SPDX-License-Identifier: Apache-2.0
#include "tidemark/tiles/folder_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "tidemark/base/check.h"
#include "tidemark/base/file_mode.h"
#include "tidemark/base/whole_io.h"

namespace tidemark {

bool is_tile_name(std::string_view name) {
  char before = '/';
  for (const char c : name) {
    const bool known = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    if (!known && (before == '/' || (c != '/' && c != '.'))) return false;
    before = c;
  }
  return before != '/';
}

Expected<FolderSink> FolderSink::create(const std::string& folder) {
  if (!create_directories(folder)) return file_failure("mkdir", folder);
  const std::string index = folder + "/index.json";
  if (::unlink(index.c_str()) != 0 && errno != ENOENT) return file_failure("unlink", index);
  return FolderSink(folder);
}

Expected<void> FolderSink::put(std::string_view name, std::span<const unsigned char> bytes) {
  TM_CHECK(is_tile_name(name));
  const std::string path = folder_ + "/" + std::string(name);
  const std::string parent = path.substr(0, path.rfind('/'));
  if (folders_.insert(parent).second && !create_directories(parent))
    return file_failure("mkdir", parent);
  const UniqueFd fd = create_file(path, O_WRONLY | O_TRUNC | O_NOFOLLOW);
  if (!fd.valid()) return file_failure("create", path);
  if (!write_at(fd.get(), 0, bytes.data(), bytes.size())) return file_failure("write", path);
  ++file_count_;
  byte_count_ += bytes.size();
  return {};
}

}  // namespace tidemark
