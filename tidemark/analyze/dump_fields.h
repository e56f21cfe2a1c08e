// SPDX-License-Identifier: Apache-2.0
// What a dumped argument is, as JSON: what tensor_dump.json and the viewer's page have of it.
#pragma once

#include <span>

#include "tidemark/run/json_fields.h"
#include "tidemark/schema/dump_frame.h"

namespace tidemark {

void stats_fields(auto& v, const DumpStats& stats) {
  TM_FIELDS(v, stats, min, max, mean, l2, nan, inf, zero);
  v("hash", fmt::format("0x{:016x}", stats.hash));
}

// Of the view, in elements.
void view_fields(auto& v, const DumpHeader& header) {
  v("dtype", to_text(header.dtype));
  v("shape", std::span(header.extent, header.rank));
  v("strides", std::span(header.stride, header.rank));
  v("start_offset", header.start_offset);
}

}  // namespace tidemark
