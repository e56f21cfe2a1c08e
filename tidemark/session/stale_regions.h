// SPDX-License-Identifier: Apache-2.0
// The regions in shared memory, where everybody may put a file of any name and kind. Only private
// files of the caller are opened and believed; of the others no more is known than that they are
// there. Whether a run still goes on is asked of the lock that all its processes share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemark/base/expected.h"

namespace tidemark {

struct StaleRegion {
  std::string path;
  std::string not_yours;  // why it is not believed; empty: a private file of the caller
  std::uint64_t bytes = 0;
  std::uint64_t run_id = 0;  // 0: not a region this version can read
  std::string run_directory;
  bool in_use = false;  // a process holds its lock, also one that is not seen from here
  bool host_alive = false;
  bool device_alive = false;
};

std::vector<StaleRegion> list_regions();

// Removes a region of the caller that no process holds, also one that cannot be read.
Expected<void> remove_region_if_dead(const std::string& path);

}  // namespace tidemark
