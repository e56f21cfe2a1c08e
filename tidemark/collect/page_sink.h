// SPDX-License-Identifier: Apache-2.0
// Where drained pages go. The capture implements it; the drainer knows nothing of files.
#pragma once

#include <cstdint>

#include "tidemark/collect/region_port.h"
#include "tidemark/transport/page.h"

namespace tidemark {

struct PageDelivery {
  PageHeaderImage header;  // the host's own copy, checked
  std::uint64_t payload_bytes = 0;
  bool recovered = false;
  bool open = false;  // its producer had not sealed it: a later copy may hold more
  // Where the payload is: in this process's own memory, or behind the port.
  const unsigned char* payload = nullptr;
  const RegionPort* port = nullptr;
  std::uint64_t payload_offset = 0;
};

class PageSink {
 public:
  virtual ~PageSink() = default;
  // True once the page is whole in the sink; only then does it go back to a producer. Called by
  // every drain thread.
  virtual bool append(const PageDelivery& page) = 0;
};

}  // namespace tidemark
