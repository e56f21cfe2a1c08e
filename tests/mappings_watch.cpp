// SPDX-License-Identifier: Apache-2.0
#include "tests/mappings_watch.h"

#include <sys/mman.h>

#include <fstream>
#include <string>

namespace tidemark {

std::atomic<bool> watches_mappings{false};
std::atomic<std::uint32_t> mappings_seen{0}, device_memory_seen{0};

namespace {

void look_at_maps() {
  ++mappings_seen;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    device_memory_seen += line.find("tidemark-device-memory") != std::string::npos;
}

}  // namespace
}  // namespace tidemark

// Every mapping that the test's process makes comes through here (see tests/CMakeLists.txt).
extern "C" void* __real_mmap(void*, std::size_t, int, int, int, off_t);
extern "C" void* __wrap_mmap(void* at, std::size_t bytes, int access, int flags, int fd,
                             off_t offset) {
  void* base = __real_mmap(at, bytes, access, flags, fd, offset);
  if (tidemark::watches_mappings) tidemark::look_at_maps();
  return base;
}
