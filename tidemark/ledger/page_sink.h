// SPDX-License-Identifier: Apache-2.0
// Where drained pages go. The capture implements it; the drainer knows nothing of files.
#pragma once

#include <cstdint>

#include "tidemark/transport/page.h"

namespace tidemark {

// Bytes that are not in this process's memory, or that may change while they are read.
class PayloadSource {
 public:
  virtual ~PayloadSource() = default;
  // Offset and size in multiples of 8. False: not all of it could be read, the rest is zeros.
  virtual bool read(std::uint64_t offset, void* to, std::uint64_t size) const = 0;
};

struct PageDelivery {
  PageHeaderImage header;  // the host's own copy, checked
  std::uint64_t payload_bytes = 0;
  bool recovered = false;
  bool open = false;  // its producer had not sealed it: a later copy may hold more
  // Where the payload is: in this process's own memory, or behind the port.
  const unsigned char* payload = nullptr;
  const PayloadSource* port = nullptr;
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
