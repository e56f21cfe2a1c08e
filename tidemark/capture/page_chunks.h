// SPDX-License-Identifier: Apache-2.0
// The pages of a capture, in the order in which their lanes wrote them. A page that was open when
// it was taken may be there twice: a host was killed while it collected from a device that went on,
// and a recovery found more. Then only the longer one counts.
#pragma once

#include <vector>

#include "tidemark/capture/capture_reader.h"

namespace tidemark {

// By lane and sequence. A page that is there twice for any other reason stays there twice.
std::vector<IndexEntry> page_chunks(const CaptureReader& reader);

}  // namespace tidemark
