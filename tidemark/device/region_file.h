// SPDX-License-Identifier: Apache-2.0
// The region as a file: created by the host, mapped by the device process, found again by a
// recovery. Every process of a run holds a shared lock on it through this one open file.
#pragma once

#include <cstdint>
#include <string>

#include "tidemark/base/expected.h"
#include "tidemark/base/mapped_memory.h"
#include "tidemark/base/unique_fd.h"
#include "tidemark/device/region_plan.h"

namespace tidemark {

inline constexpr const char* kRegionDirectory = "/dev/shm";

std::string region_path(std::uint64_t run_id);

struct RegionFile {
  UniqueFd fd;
  std::string path;
  std::uint64_t bytes = 0;
};

// Creates the file with mode 0600 and all its space, writes the plan into it, locks it shared.
Expected<RegionFile> create_region_file(const RegionPlan& plan);
// The same in two steps: the space may be there before everything in the plan is known.
Expected<RegionFile> allocate_region_file(const RegionPlan& plan);
Expected<void> name_region_file(const RegionFile& file, const RegionPlan& plan);

enum class RegionLock { kNone, kExclusive };

// Opens an existing file for recovery or a look, if it is a regular, private file of the caller:
// shared memory is open to everybody. Follows no link and never blocks. kExclusive: refused while a
// process of the run lives.
Expected<RegionFile> open_region_file(const std::string& path, RegionLock lock);

Expected<MappedMemory> map_region(int fd, const std::string& path, std::uint64_t bytes);

// True if what the header says of itself is consistent with a file of `file_bytes`.
bool is_region(const RegionIdentity& identity, std::uint64_t file_bytes);

}  // namespace tidemark
