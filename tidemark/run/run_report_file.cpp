// SPDX-License-Identifier: Apache-2.0
// run.json on disk: read back with every field checked, replaced whole.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tidemark/base/file_mode.h"
#include "tidemark/base/uninterrupted.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/run/identity_json.h"
#include "tidemark/run/json.h"
#include "tidemark/run/run_report.h"

namespace tidemark {
namespace {

LaneCounts parse_counts(const rapidjson::Value& value) {
  LaneCounts counts;
  counts.produced = get_u64(value, "produced");
  counts.delivered = get_u64(value, "delivered");
  counts.recovered = get_u64(value, "recovered");
  counts.dropped = get_u64(value, "dropped");
  if (const auto* by = get_member(value, "dropped_by"); by != nullptr)
    for (std::size_t i = 0; i < kDropReasonCount; ++i)
      counts.dropped_by[i] = get_u64(*by, to_text(static_cast<DropReason>(i)).data());
  counts.overwritten = get_u64(value, "overwritten");
  counts.incomplete = get_u64(value, "incomplete");
  const std::uint64_t unaccounted = get_u64(value, "unaccounted");
  counts.contradictory = std::min(unaccounted, get_u64(value, "contradictory"));
  counts.missing = unaccounted - counts.contradictory;
  counts.bytes = get_u64(value, "bytes");
  counts.pages = get_u64(value, "pages");
  counts.gaps = get_u64(value, "gaps");
  counts.gap_lost = get_u64(value, "gap_lost");
  return counts;
}

void parse_lanes(const rapidjson::Value& document, RunReport& report) {
  const auto* streams = get_member(document, "streams");
  if (streams == nullptr || !streams->IsObject()) return;
  for (const auto& stream : streams->GetObject()) {
    const auto* lanes = get_member(stream.value, "lanes");
    if (lanes == nullptr || !lanes->IsArray()) continue;
    for (const auto& lane : lanes->GetArray())
      report.lanes.push_back({.lane = static_cast<std::uint32_t>(get_u64(lane, "lane")),
                              .stream = text_of(stream.name),
                              .producer = get_text(lane, "producer"),
                              .state = get_text(lane, "state"),
                              .policy = get_text(lane, "policy"),
                              .counts = parse_counts(lane)});
  }
}

// Enough for what is not of lanes: anchors, messages, artifacts that were not made.
constexpr std::uint64_t kReportBytes = 192ull << 10;
constexpr std::uint64_t kReportBytesPerLane = 1280;

std::uint64_t parse_hex(const std::string& text) {
  std::uint64_t value = 0;
  return std::sscanf(text.c_str(), "%lx", &value) == 1 ? value : 0;
}

}  // namespace

Expected<RunReport> parse_run_report(const std::string& text, const std::string& path) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject())
    return failure(ErrorKind::kDamage, "{} is not a JSON object", path);
  RunReport report;
  report.run_id = parse_hex(get_text(document, "run_id"));
  if (report.run_id == 0)
    return failure(ErrorKind::kDamage, "{} has no run_id: not a run's file", path);
  read_what_ran(document, report);
  read_ending(document, report);
  if (const auto* region = get_member(document, "region"); region != nullptr) {
    report.region_path = get_text(*region, "path");
    report.region_bytes = get_u64(*region, "bytes");
    report.boot_id = get_text(*region, "boot_id");
    report.host = {.pid = static_cast<std::uint32_t>(get_u64(*region, "host_pid")),
                   .start_time = get_u64(*region, "host_start_time")};
    report.host_name = get_text(*region, "host_name");
    report.pid_namespace = get_u64(*region, "pid_namespace");
  }
  report.exit_code = static_cast<int>(get_u64(document, "exit_code"));
  if (const auto* loss = get_member(document, "loss_known"); loss != nullptr && loss->IsBool())
    report.loss_known = loss->GetBool();
  if (const auto* clock = get_member(document, "clock"); clock != nullptr)
    report.ticks_per_second = get_u64(*clock, "ticks_per_second");
  report.device_ns = get_u64(document, "device_ns");
  report.host_ns = get_u64(document, "host_ns");
  parse_lanes(document, report);
  return report;
}

Expected<RunReport> read_run_report(const std::string& directory) {
  const std::string path = directory + "/run.json";
  std::ifstream file(path);
  if (!file)
    return failure(ErrorKind::kUsage, "{} is not a run: it has no readable run.json", directory);
  std::stringstream text;
  text << file.rdbuf();
  return parse_run_report(text.str(), path);
}

Expected<void> write_run_report(const std::string& directory, const RunReport& report) {
  auto file = ReportFile::reserve(directory, report.run_id, report.lanes.size());
  if (!file) return tl::unexpected(file.error());
  return file->replace(report, false);
}

Expected<ReportFile> ReportFile::reserve(const std::string& directory, std::uint64_t run_id,
                                         std::size_t lanes) {
  ReportFile file;
  file.directory_ = directory;
  // The run's own name: no other run writes it, and a recovery takes over what a kill left.
  file.part_ = fmt::format("{}/run.json.{}.part", directory, run_id_text(run_id));
  file.fd_ = create_file(file.part_, O_WRONLY | O_TRUNC | O_NOFOLLOW);
  if (!file.fd_.valid()) return file_failure("create", file.part_);
  const std::uint64_t bytes = kReportBytes + lanes * kReportBytesPerLane;
  const int allocated = uninterrupted([&] {
    return ::fallocate(file.fd_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
  });
  // Where nothing can be allocated the disk must have room at the end.
  if (allocated != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
    return file_failure("allocate", file.part_);
  return file;
}

ReportFile& ReportFile::operator=(ReportFile&& other) noexcept {
  discard();
  directory_ = std::move(other.directory_);
  part_ = std::move(other.part_);
  fd_ = std::move(other.fd_);
  return *this;
}

ReportFile::~ReportFile() { discard(); }

void ReportFile::discard() {
  if (fd_.valid()) ::unlink(part_.c_str());
  fd_.reset();
}

Expected<void> ReportFile::write(const RunReport& report) {
  const std::string text = to_json(report) + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = uninterrupted([&] {
      return ::pwrite(fd_.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    });
    if (put <= 0) return file_failure("write", part_);
    done += static_cast<std::size_t>(put);
  }
  if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(text.size())); }) != 0)
    return file_failure("truncate", part_);
  return {};
}

Expected<void> ReportFile::put_first(const RunReport& report) {
  if (auto written = write(report); !written) return written;
  const std::string path = directory_ + "/run.json";
  if (::link(part_.c_str(), path.c_str()) != 0) {
    if (errno == EEXIST) return failure(ErrorKind::kUsage, "{} exists", path);
    // A file system without links has this instead.
    if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0)
      return errno == EEXIST ? failure(ErrorKind::kUsage, "{} exists", path)
                             : file_failure("create", path);
    fd_.reset();
    return {};
  }
  discard();
  return {};
}

Expected<void> ReportFile::replace(const RunReport& report, bool sync) {
  if (auto written = write(report); !written) return written;
  if (sync && uninterrupted([&] { return ::fsync(fd_.get()); }) != 0)
    return file_failure("sync", part_);
  if (::rename(part_.c_str(), (directory_ + "/run.json").c_str()) != 0)
    return file_failure("rename", part_);
  fd_.reset();
  if (!sync) return {};
  // The new name itself. A file system that cannot sync a directory has nothing to lose there.
  const UniqueFd directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid() && uninterrupted([&] { return ::fsync(directory.get()); }) != 0 &&
      errno == EIO)
    return file_failure("sync", directory_);
  return {};
}

}  // namespace tidemark
