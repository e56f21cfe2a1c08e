// SPDX-License-Identifier: Apache-2.0
// The runs in a folder, newest first, as a page lists them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tidemark/serve/bare_index.h"
#include "tidemark/serve/served_run.h"

namespace tidemark {

// The part of an address that stands for a run: names of directories may hold anything.
std::string run_key(const std::string& directory);

class RunList {
 public:
  explicit RunList(std::string folder) : folder_(std::move(folder)) {}

  // Looks again. One thread at a time.
  [[nodiscard]] std::string json();
  // Directories by key, as of the last look.
  [[nodiscard]] const std::map<std::string, std::string>& by_key() const { return by_key_; }

 private:
  struct Row {
    std::string directory, name;
    RunFiles files;
  };
  struct Known {
    RunFiles files;
    RunReport report;
  };
  void look();
  const RunReport* report_of(const Row& row);

  std::string folder_;
  std::vector<Row> rows_;  // newest first
  std::size_t left_out_ = 0;
  std::map<std::string, std::string> by_key_;
  std::map<std::string, Known> known_;  // by directory
};

}  // namespace tidemark
