// SPDX-License-Identifier: Apache-2.0
// What a page of `tidemark serve` asks for while its run goes on: index.json again and again, and
// of each new generation every directory, the last leaf and the coarsest buckets of each track.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace tidemark::bench {

struct PageSeen {
  std::uint64_t polls = 0;
  std::uint64_t generations = 0;
  std::uint64_t blobs = 0;
  std::uint64_t blob_bytes = 0;
  std::uint64_t failed = 0;   // answers other than the blob, that there is none, or an older one
  std::uint64_t records = 0;  // in the lanes of the newest index.json
  bool saw_end = false;       // of the run, with all of its tiles
};

// Until the end of the run was seen, or `gives_up`. `address`: http://127.0.0.1:PORT/TOKEN/
PageSeen follow_run(const std::string& address, std::uint32_t poll_ms,
                    const std::atomic<bool>& gives_up);

}  // namespace tidemark::bench
