// SPDX-License-Identifier: Apache-2.0
// The directory of one run: claimed, refused, or found. A directory belongs to the run whose
// run.json is in it, and run.json comes into being whole and once; so two runs that start together
// never write into one directory.
#pragma once

#include <string>
#include <vector>

#include "tidemark/base/expected.h"
#include "tidemark/run/run_report.h"

namespace tidemark {

inline constexpr const char* kCaptureFile = "capture.tide";

struct DirectoryRequest {
  std::string path;    // empty: outputs/<workload>_<case>_<YYYYMMDD_HHMMSS>[_<n>], never one in use
  bool force = false;  // an old run there is replaced
};

// A directory with its first run.json. Until `keep` its owner takes back what it made: the
// directory, run.json, and the old run that it had put aside.
class DirectoryClaim {
 public:
  // A directory that holds a run is refused unless `force`, and even then if that run is going on
  // or was never recovered. The message names the run that is there.
  static Expected<DirectoryClaim> make(const DirectoryRequest& request, const RunReport& report);
  DirectoryClaim() = default;
  DirectoryClaim(DirectoryClaim&& other) noexcept { *this = std::move(other); }
  DirectoryClaim& operator=(DirectoryClaim&& other) noexcept;
  ~DirectoryClaim() { take_back(); }

  [[nodiscard]] const std::string& path() const { return path_; }
  // The new run has started: the old one goes.
  void remove_replaced();
  // The run has begun for good: nothing is taken back any more.
  void keep() { held_ = false; }

 private:
  Expected<void> make_parents(const std::string& path);
  Expected<void> claim_default(const RunReport& report);
  Expected<void> claim_path(const DirectoryRequest& request, const RunReport& report);
  Expected<void> put_aside(const RunReport& report);
  void put_back();
  void take_back();

  std::string path_;
  std::string replaced_;  // where the old run is meanwhile; empty: there was none
  std::vector<std::string> made_directories_;  // parents first
  bool made_report_ = false;
  bool held_ = false;
};

// The newest run below outputs/.
Expected<std::string> newest_run();

}  // namespace tidemark
