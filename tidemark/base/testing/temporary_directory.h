// SPDX-License-Identifier: Apache-2.0
// A directory of a test's own, gone with its owner; and whole files as bytes.
#pragma once

#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tidemark/base/check.h"

namespace tidemark::samples {

inline std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

class TemporaryDirectory {
 public:
  // The name has a tag by which `./dev test` knows what its tests have left behind.
  explicit TemporaryDirectory(const std::string& where = environment("TMPDIR", "/tmp")) {
    std::string path = where + "/tidemark-test-" + environment("TIDEMARK_TEST_TAG", "") + "XXXXXX";
    TM_CHECK(::mkdtemp(path.data()) != nullptr);
    path_ = path;
  }
  ~TemporaryDirectory() {
    std::error_code code;
    std::filesystem::remove_all(path_, code);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::vector<unsigned char> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const std::string& path, const std::vector<unsigned char>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  TM_CHECK(file.good());
}

}  // namespace tidemark::samples
