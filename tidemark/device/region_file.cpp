// SPDX-License-Identifier: Apache-2.0
#include "tidemark/device/region_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tidemark/base/whole_io.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kSmallRegionBytes = 4ull << 20;

Expected<void> write_plan(const RegionFile& file, const RegionPlan& plan) {
  std::vector<unsigned char> head(plan.layout.published_offset, 0);
  std::memcpy(head.data(), &plan.identity, sizeof(plan.identity));
  std::memcpy(head.data() + offsetof(RegionHeader, run_directory), plan.run_directory.data(),
              std::min<std::size_t>(plan.run_directory.size(), kRunDirectoryBytes - 1));
  for (std::size_t lane = 0; lane < plan.lanes.size(); ++lane)
    std::memcpy(head.data() + plan.layout.lane_offset(static_cast<LaneIndex>(lane)),
                &plan.lanes[lane], sizeof(LanePlan));
  if (!write_at(file.fd.get(), 0, head.data(), head.size()))
    return file_failure("write", file.path);
  return {};
}

// Everybody may put files into shared memory. Null: a private file of the caller.
const char* why_foreign(const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return "it is a link";
  if (!S_ISREG(info.st_mode)) return "it is not a regular file";
  if (info.st_uid != ::geteuid()) return "it belongs to another user";
  if ((info.st_mode & 077) != 0) return "others may open it";
  return nullptr;
}

}  // namespace

std::string region_path(std::uint64_t run_id) {
  return fmt::format("{}/tidemark-{:016x}.region", kRegionDirectory, run_id);
}

Expected<RegionFile> create_region_file(const RegionPlan& plan) {
  TM_TRY(auto file, allocate_region_file(plan));
  TM_TRY_DO(name_region_file(file, plan));
  return file;
}

Expected<RegionFile> allocate_region_file(const RegionPlan& plan) {
  RegionFile file{
      .fd = {}, .path = region_path(plan.identity.run_id), .bytes = plan.layout.total_bytes};
  file.fd.reset(uninterrupted(
      [&] { return ::open(kRegionDirectory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); }));
  if (!file.fd.valid()) return file_failure("create", file.path);
  int code = EINTR;
  while (code == EINTR) code = ::posix_fallocate(file.fd.get(), 0, static_cast<off_t>(file.bytes));
  if (code != 0)
    return failure(ErrorKind::kFile, "allocate {} bytes of {}: {} ({})", file.bytes, file.path,
                   std::strerror(code),
                   code == EFBIG ? "the limit on file sizes, ulimit -f, is below it"
                                 : "a smaller --pool-bytes helps");
  return file;
}

// The file gets its name when it is whole and locked: a kill before that leaves nothing behind, and
// no recovery meets half a region.
Expected<void> name_region_file(const RegionFile& file, const RegionPlan& plan) {
  if (::flock(file.fd.get(), LOCK_SH | LOCK_NB) != 0) return file_failure("lock", file.path);
  TM_TRY_DO(write_plan(file, plan));
  const std::string unnamed = fmt::format("/proc/self/fd/{}", file.fd.get());
  if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, file.path.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return file_failure("create", file.path);
  return {};
}

Expected<RegionFile> open_region_file(const std::string& path, RegionLock lock) {
  RegionFile file{.fd = {}, .path = path, .bytes = 0};
  // Looked at before it is opened, too: opening alone has effects on some kinds of files.
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return file_failure("open", path);
  if (const char* reason = why_foreign(info))
    return failure(ErrorKind::kUsage, "{} is not yours: {}", path, reason);
  const int access = lock == RegionLock::kNone ? O_RDONLY : O_RDWR;
  file.fd.reset(uninterrupted(
      [&] { return ::open(path.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); }));
  if (!file.fd.valid()) return file_failure("open", path);
  if (::fstat(file.fd.get(), &info) != 0) return file_failure("stat", path);
  if (const char* reason = why_foreign(info))
    return failure(ErrorKind::kUsage, "{} is not yours: {}", path, reason);
  file.bytes = static_cast<std::uint64_t>(info.st_size);
  if (lock == RegionLock::kExclusive && ::flock(file.fd.get(), LOCK_EX | LOCK_NB) != 0)
    return failure(ErrorKind::kUsage, "{} is in use: a process of the run is still alive", path);
  return file;
}

Expected<MappedMemory> map_region(int fd, const std::string& path, std::uint64_t bytes) {
  // A large region is faulted in at once; a small one costs less page by page.
  MappedMemory mapping(bytes, MAP_SHARED | (bytes > kSmallRegionBytes ? MAP_POPULATE : 0), fd);
  if (!mapping.valid()) return file_failure("map", path);
  mapping.advise(MADV_DONTFORK);  // with the mapping a child would hold the region's lock
  return mapping;
}

bool is_region(const RegionIdentity& identity, std::uint64_t file_bytes) {
  if (identity.magic != kRegionMagic || identity.abi_version != kRegionAbiVersion) return false;
  if (!is_possible(identity.shape)) return false;
  const RegionLayout layout = lay_out(identity.shape);
  return layout.total_bytes == identity.total_bytes && layout.total_bytes <= file_bytes &&
         identity.lane_count <= identity.shape.max_lanes &&
         identity.pool_page_count <= identity.shape.page_count &&
         identity.drain_threads <= kDrainThreadsMax && identity.ticks_per_second != 0;
}

}  // namespace tidemark
