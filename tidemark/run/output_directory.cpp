// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/output_directory.h"

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include <fmt/chrono.h>

#include "tidemark/base/file_mode.h"
#include "tidemark/base/monotonic_clock.h"
#include "tidemark/capture/capture_writer.h"
#include "tidemark/run/run_owner.h"
#include "tidemark/run/unit_stack.h"

namespace tidemark {
namespace fs = std::filesystem;

namespace {

constexpr const char* kOutputs = "outputs";
constexpr const char* kReplaced = ".replaced-";
constexpr int kDefaultNamesMax = 1'000'000;
constexpr int kLockTries = 500;
constexpr std::uint32_t kClaimPauseMs = 10;

// Every name a run may have left in its directory; nothing else is touched.
constexpr const char* kRunFiles[] = {
    "run.json",      kCaptureFile,       "tensor_dump",
    "scope_stats",   "scope_stats.json", "l2_swimlane_records.json",
    "name_map.json", "deps.json",        "hang.json",
    "hang.txt",      "trace.pftrace",    "report.html",
    kCoreDumpFile};

bool is_run_file(const std::string& name) {
  return std::any_of(std::begin(kRunFiles), std::end(kRunFiles), [&](const std::string& file) {
    return name == file || (name.starts_with(file + ".") && name.ends_with(".part"));
  });
}

// Those who claim one directory come one after the other. Where a directory cannot be locked, the
// link of run.json still lets only one of them have it.
UniqueFd lock_directory(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int tries = 0; fd.valid() && tries < kLockTries; ++tries) {
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) break;
    sleep_ms(kClaimPauseMs);
  }
  return fd;
}

std::string what_is_there(const std::string& path) {
  const auto old = read_run_report(path);
  if (!old) return "its run.json cannot be read";
  return old->status == RunStatus::kRunning ? "still running: " + owner_text(*old)
                                            : fmt::format("status '{}'", to_text(old->status));
}

bool holds_run(const std::string& path) {
  std::error_code code;
  return fs::exists(fs::path(path) / "run.json", code) ||
         fs::exists(fs::path(path) / kCaptureFile, code);
}

// Also of a run that has only its run.json yet.
bool may_be_going_on(const RunReport& report) {
  if (report.status != RunStatus::kRunning) return false;
  const HostIs host = look_for_host(report, false);
  return host == HostIs::kAlive || host == HostIs::kUnknown;
}

Expected<void> refuse_if_needed(const std::string& path) {
  const auto old = read_run_report(path);
  std::error_code code;
  const bool has_region = old && !old->region_path.empty() && fs::exists(old->region_path, code);
  if (!has_region && !is_being_written(path + "/" + kCaptureFile) &&
      !(old && may_be_going_on(*old)))
    return {};
  return failure(ErrorKind::kUsage,
                 "{} holds a run that is going on or was never recovered ({}); run 'tidemark "
                 "recover {}' first",
                 path, what_is_there(path), path);
}

Expected<void> move_run(const std::string& from, const std::string& to) {
  std::error_code code;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(from, code))
    if (is_run_file(entry.path().filename().string()))
      names.push_back(entry.path().filename().string());
  // run.json is the last to go and the last to come back: it says whose the rest is.
  std::partition(names.begin(), names.end(), [](const auto& name) { return name != "run.json"; });
  for (const auto& name : names) {
    fs::rename(fs::path(from) / name, fs::path(to) / name, code);
    if (code)
      return failure(ErrorKind::kFile, "move {}/{} to {}: {}", from, name, to, code.message());
  }
  return {};
}

}  // namespace

Expected<DirectoryClaim> DirectoryClaim::make(const DirectoryRequest& request,
                                              const RunReport& report) {
  DirectoryClaim claim;
  claim.path_ = request.path;
  claim.held_ = true;
  TM_TRY_DO(request.path.empty() ? claim.claim_default(report) : claim.claim_path(request, report));
  return claim;
}

DirectoryClaim& DirectoryClaim::operator=(DirectoryClaim&& other) noexcept {
  if (this == &other) return *this;
  take_back();
  path_ = std::move(other.path_);
  replaced_ = std::move(other.replaced_);
  made_directories_ = std::move(other.made_directories_);
  made_report_ = other.made_report_;
  held_ = std::exchange(other.held_, false);
  return *this;
}

// Parents are other people's places too: they get the mode that the umask gives.
Expected<void> DirectoryClaim::make_parents(const std::string& path) {
  std::error_code code;
  std::vector<std::string> missing;
  for (fs::path parent = fs::path(path).parent_path(); !parent.empty() && !fs::exists(parent, code);
       parent = parent.parent_path())
    missing.push_back(parent.string());
  for (auto parent = missing.rbegin(); parent != missing.rend(); ++parent) {
    if (::mkdir(parent->c_str(), 0777) == 0)
      made_directories_.push_back(*parent);
    else if (errno != EEXIST)
      return failure(ErrorKind::kFile, "create directory {} for {}: {}", *parent, path,
                     std::strerror(errno));
  }
  return {};
}

// The folder itself is the claim: only one process can make it.
Expected<void> DirectoryClaim::claim_default(const RunReport& report) {
  const std::string base = fmt::format("{}/{}_{}_{:%Y%m%d_%H%M%S}", kOutputs, report.workload,
                                       report.case_name, fmt::localtime(std::time(nullptr)));
  TM_TRY_DO(make_parents(base));
  for (int number = 1; number < kDefaultNamesMax; ++number) {
    path_ = number == 1 ? base : fmt::format("{}_{}", base, number);
    if (create_directory(path_)) {
      made_directories_.push_back(path_);
      TM_TRY(auto file, ReportFile::reserve(path_, report.run_id, 0));
      auto put = file.put_first(report);
      made_report_ = put.has_value();
      return put;
    }
    if (errno != EEXIST) break;
  }
  return file_failure("create directory", path_);
}

Expected<void> DirectoryClaim::claim_path(const DirectoryRequest& request,
                                          const RunReport& report) {
  std::error_code code;
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  TM_TRY_DO(make_parents(path_));
  if (create_directory(path_))
    made_directories_.push_back(path_);
  else if (errno != EEXIST)
    return file_failure("create directory", path_);
  if (!fs::is_directory(path_, code))
    return failure(ErrorKind::kFile, "{} is not a directory", path_);
  const UniqueFd lock = lock_directory(path_);
  const auto refuse = [&] {
    made_directories_.clear();  // somebody else is in them
    return failure(ErrorKind::kUsage,
                   "{} already holds a run ({}); choose another --output-prefix or add --force to "
                   "replace it",
                   path_, what_is_there(path_));
  };
  if (holds_run(path_)) {
    if (!request.force) return refuse();
    made_directories_.clear();
    TM_TRY_DO(refuse_if_needed(path_));
    TM_TRY_DO(put_aside(report));
  }
  TM_TRY(auto file, ReportFile::reserve(path_, report.run_id, 0));
  auto put = file.put_first(report);
  if (!put && put.error().kind == ErrorKind::kUsage) return refuse();
  made_report_ = put.has_value();
  return put;
}

Expected<void> DirectoryClaim::put_aside(const RunReport& report) {
  const std::string aside = fmt::format("{}/{}{}", path_, kReplaced, run_id_text(report.run_id));
  if (!create_directory(aside)) return file_failure("create directory", aside);
  replaced_ = aside;
  return move_run(path_, aside);
}

void DirectoryClaim::remove_replaced() {
  if (replaced_.empty()) return;
  std::error_code code;
  fs::remove_all(replaced_, code);
  // What an earlier start put aside and was killed before it could remove or bring back.
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(path_, code))
    if (entry.path().filename().string().starts_with(kReplaced)) left.push_back(entry.path());
  for (const auto& path : left) fs::remove_all(path, code);
  replaced_.clear();
}

void DirectoryClaim::put_back() {
  if (replaced_.empty()) return;
  std::error_code code;
  if (move_run(replaced_, path_)) fs::remove(replaced_, code);
  replaced_.clear();
}

void DirectoryClaim::take_back() {
  if (!std::exchange(held_, false)) return;
  if (made_report_) ::unlink((path_ + "/run.json").c_str());
  put_back();
  for (auto path = made_directories_.rbegin(); path != made_directories_.rend(); ++path)
    ::rmdir(path->c_str());
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
