// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/output_directory.h"

#include <ctime>
#include <filesystem>

#include "tidemark/session/run_report.h"

namespace tidemark {
namespace fs = std::filesystem;

namespace {

constexpr const char* kOutputs = "outputs";

// Every name a run may have left in its directory; nothing else is touched.
constexpr const char* kRunFiles[] = {"run.json",
                                     "run.json.part",
                                     kCaptureFile,
                                     "tensor_dump",
                                     "scope_stats",
                                     "scope_stats.json",
                                     "l2_swimlane_records.json",
                                     "name_map.json",
                                     "deps.json",
                                     "hang.json",
                                     "hang.txt",
                                     "trace.pftrace",
                                     "report.html"};

}  // namespace

Expected<void> make_output_directory(const std::string& path, bool force) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) return failure(ErrorKind::kFile, "create directory {}: {}", path, code.message());
  if (!fs::is_directory(path, code))
    return failure(ErrorKind::kFile, "{} is not a directory", path);
  const bool holds_run = fs::exists(fs::path(path) / "run.json", code) ||
                         fs::exists(fs::path(path) / kCaptureFile, code);
  if (!holds_run) return {};
  if (!force)
    return failure(ErrorKind::kUsage,
                   "{} already holds a run; choose another --output-prefix or "
                   "add --force to replace it",
                   path);
  if (const auto old = read_run_report(path);
      old && !old->region_path.empty() && fs::exists(old->region_path, code))
    return failure(ErrorKind::kUsage,
                   "{} holds a run that is going on or was never recovered; run 'tidemark recover "
                   "{}' first",
                   path, path);
  for (const char* name : kRunFiles) {
    fs::remove_all(fs::path(path) / name, code);
    if (code) return failure(ErrorKind::kFile, "remove {}/{}: {}", path, name, code.message());
  }
  return {};
}

std::string default_output_directory(const std::string& workload, const std::string& case_name) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", &local);
  const std::string base = fmt::format("{}/{}_{}_{}", kOutputs, workload, case_name, stamp);
  std::error_code code;
  std::string path = base;
  for (int number = 2; fs::exists(path, code); ++number) path = fmt::format("{}_{}", base, number);
  return path;
}

Expected<std::string> newest_run() {
  std::error_code code;
  std::string newest;
  fs::file_time_type newest_time{};
  for (const auto& entry : fs::directory_iterator(kOutputs, code)) {
    const fs::path report = entry.path() / "run.json";
    const auto time = fs::last_write_time(report, code);
    if (code || (!newest.empty() && time <= newest_time)) continue;
    newest = entry.path().string();
    newest_time = time;
  }
  if (newest.empty())
    return failure(ErrorKind::kUsage, "no run found below {}/; name one", kOutputs);
  return newest;
}

}  // namespace tidemark
