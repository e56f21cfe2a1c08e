// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "tidemark/base/file_mode.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFlushBytes = 256 * 1024;

// No other writer of this path has it: not of this process, not of another.
std::string part_name(const std::string& path) {
  static std::atomic<std::uint32_t> next{0};
  return fmt::format("{}.{}.{}.part", path, ::getpid(), next.fetch_add(1));
}

// Removes what killed writers of this path left. A writer that lives holds the lock of its part.
void remove_stale_parts(const std::string& path) {
  const fs::path whole(path);
  const std::string begin = whole.filename().string() + ".";
  const fs::path folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(".part")) continue;
    if (!entry->is_regular_file(code)) continue;
    const UniqueFd fd(
        ::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
  }
}

// The new file, locked. Between its creation and its lock another writer may have taken it for a
// stale one.
UniqueFd create_part(const std::string& path, std::string& part) {
  for (;;) {
    part = part_name(path);
    UniqueFd fd = create_file(part, O_WRONLY | O_EXCL);
    if (!fd.valid()) return fd;
    struct stat info {};
    const bool locked = ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && ::fstat(fd.get(), &info) == 0 && info.st_nlink > 0) return fd;
  }
}

}  // namespace

Expected<PartFile> PartFile::create(const std::string& path) {
  PartFile made;
  made.path_ = path;
  if (const auto folder = fs::path(path).parent_path(); !folder.empty())
    if (!create_directories(folder.string())) return file_failure("create", folder.string());
  remove_stale_parts(path);
  UniqueFd fd = create_part(path, made.part_);
  if (!fd.valid()) return file_failure("create", made.part_);
  made.file_.reset(::fdopen(fd.get(), "wb"));
  if (made.file_ == nullptr) {
    auto error = file_failure("create", made.part_);
    ::unlink(made.part_.c_str());
    return error;
  }
  fd.release();
  return made;
}

PartFile::~PartFile() {
  if (file_ != nullptr) ::unlink(part_.c_str());
}

void PartFile::write(std::string_view bytes) {
  if (!bytes.empty()) std::fwrite(bytes.data(), 1, bytes.size(), file());
}

void PartFile::flush_if_full() {
  if (text_.size() >= kFlushBytes) flush();
}

void PartFile::flush() {
  write(text_);
  text_.clear();
}

Expected<void> PartFile::finish() {
  flush();
  const bool failed = std::ferror(file()) != 0 || std::fflush(file()) != 0;
  // Put in place before it is closed: an unlocked part would count as a stale one.
  const bool placed = !failed && std::rename(part_.c_str(), path_.c_str()) == 0;
  const int code = errno;
  if (!placed) ::unlink(part_.c_str());
  file_.reset();
  errno = code;
  if (failed) return failure(ErrorKind::kFile, "write {}: the file system refused (full?)", path_);
  if (!placed) return file_failure("rename", part_);
  return {};
}

Expected<void> write_part_file(const std::string& path, std::string_view text) {
  TM_TRY(auto file, PartFile::create(path));
  file.write(text);
  return file.finish();
}

}  // namespace tidemark
