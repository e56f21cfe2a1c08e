// SPDX-License-Identifier: Apache-2.0
// run.json on disk: replaced whole.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tidemark/base/file_mode.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/base/whole_io.h"
#include "tidemark/run/run_report.h"

namespace tidemark {
namespace {

// Enough for what is not of lanes: anchors, messages, artifacts that were not made.
constexpr std::uint64_t kReportBytes = 192ull << 10;
constexpr std::uint64_t kReportBytesPerLane = 1280;

}  // namespace

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
  TM_TRY(auto file, ReportFile::reserve(directory, report.run_id, report.lanes.size()));
  return file.replace(report, false);
}

Expected<ReportFile> ReportFile::reserve(const std::string& directory, std::uint64_t run_id,
                                         std::size_t lanes) {
  ReportFile file;
  file.directory_ = directory;
  // The run's own name: no other run writes it, and a recovery takes over what a kill left.
  file.part_ = fmt::format("{}/run.json.{}.part", directory, run_id_text(run_id));
  // What a kill left is another name of run.json, where it came between the link and the end of the
  // part: it is not written into.
  ::unlink(file.part_.c_str());
  file.fd_ = create_file(file.part_, O_WRONLY | O_EXCL | O_NOFOLLOW);
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
  if (!write_at(fd_.get(), 0, text.data(), text.size())) return file_failure("write", part_);
  if (uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(text.size())); }) != 0)
    return file_failure("truncate", part_);
  return {};
}

Expected<void> ReportFile::put_first(const RunReport& report) {
  TM_TRY_DO(write(report));
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
  TM_TRY_DO(write(report));
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
