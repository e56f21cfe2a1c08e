// SPDX-License-Identifier: Apache-2.0
// A private folder for tiles, never inside of a run, gone with its owner.
#pragma once

#include <string>
#include <utility>

#include "tidemark/base/expected.h"

namespace tidemark {

class CacheFolder {
 public:
  // In `where`, or in the temporary folder. Refused if that is in a run.
  static Expected<CacheFolder> make(const std::string& where);
  CacheFolder(CacheFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  CacheFolder& operator=(CacheFolder&&) = delete;
  ~CacheFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit CacheFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace tidemark
