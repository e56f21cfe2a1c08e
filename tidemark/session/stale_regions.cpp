// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/stale_regions.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "tidemark/base/process_identity.h"
#include "tidemark/collect/leftover_pages.h"
#include "tidemark/device/region_file.h"
#include "tidemark/session/region_words.h"

namespace tidemark {
namespace fs = std::filesystem;

namespace {

bool is_region_name(const std::string& name) {
  return name.starts_with("tidemark-") && name.ends_with(".region");
}

// The lock is held for a moment only; a recovery that meets it tries again.
bool is_locked(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return true;
  ::flock(fd, LOCK_UN);
  return false;
}

void read_identity(const RegionFile& file, StaleRegion& region) {
  auto port = RegionPort::open(file, Transport::kCopied);
  if (!port) return;
  const auto plan = read_plan(*port, file.path);
  if (!plan) return;
  region.run_id = plan->identity.run_id;
  region.host_alive = is_alive({plan->identity.host_pid, plan->identity.host_start_time});
  region.device_alive = is_alive(device_of(*port));
  char text[kRunDirectoryBytes];
  port->read(offsetof(RegionHeader, run_directory), text, sizeof(text));
  region.run_directory.assign(text, ::strnlen(text, sizeof(text) - 1));
}

}  // namespace

std::vector<StaleRegion> list_regions() {
  std::vector<StaleRegion> regions;
  std::error_code code;
  for (fs::directory_iterator entry(kRegionDirectory, code), end; !code && entry != end;
       entry.increment(code)) {
    if (!is_region_name(entry->path().filename().string())) continue;
    StaleRegion region;
    region.path = entry->path().string();
    const auto file = open_region_file(region.path, RegionLock::kNone);
    if (file) {
      region.bytes = file->bytes;
      region.in_use = is_locked(file->fd.get());
      read_identity(*file, region);
    } else {
      // A run that ends removes its region while this looks.
      struct stat info {};
      if (::lstat(region.path.c_str(), &info) != 0) continue;
      region.not_yours = file.error().message;
    }
    regions.push_back(std::move(region));
  }
  std::ranges::sort(regions, {}, &StaleRegion::path);
  return regions;
}

Expected<void> remove_region_if_dead(const std::string& path) {
  TM_TRY(const auto file, open_region_file(path, RegionLock::kExclusive));
  // Between opening and locking the name may have gone to another file.
  struct stat locked {
  }, named{};
  if (::fstat(file.fd.get(), &locked) != 0) return file_failure("stat", path);
  if (::lstat(path.c_str(), &named) != 0) return file_failure("stat", path);
  if (locked.st_dev != named.st_dev || locked.st_ino != named.st_ino)
    return failure(ErrorKind::kUsage, "{} is in use: it was replaced a moment ago", path);
  if (::unlink(path.c_str()) != 0) return file_failure("remove", path);
  return {};
}

}  // namespace tidemark
