// SPDX-License-Identifier: Apache-2.0
// Every dumped argument of a run, with where its bytes are in the capture. The bytes themselves
// stay in the file: a run may have dumped more than there is memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tidemark/run/run_capture.h"
#include "tidemark/schema/dump_frame.h"

namespace tidemark {

// A stretch of a frame in one page of the capture.
struct DumpPiece {
  std::uint32_t chunk = 0;   // number of the chunk in the capture
  std::uint32_t offset = 0;  // in the chunk's payload
  std::uint32_t bytes = 0;
};

struct DumpEntry {
  DumpHeader header;
  DumpStats stats;
  std::vector<DumpPiece> payload;

  [[nodiscard]] bool has_stats() const { return (header.flags & kDumpHasStats) != 0; }
  [[nodiscard]] bool is_tensor() const { return header.kind == DumpKind::kTensor; }
  [[nodiscard]] bool is_whole() const {
    return !is_tensor() || header.payload_bytes == header.logical_bytes;
  }
};

struct DumpIndex {
  std::vector<DumpEntry> entries;  // tensors and scalars, by task, stage, argument
  std::uint64_t dropped = 0;       // frames that are not here
  std::uint64_t overwritten = 0;
  std::uint64_t malformed = 0;  // frames that are no dump
  std::uint64_t skipped_tasks = 0;
  std::vector<std::string> invalid;  // arguments that point nowhere: "r1t42 add, argument 2"
  std::vector<std::string> skipped_kernels;  // once each
};

Expected<DumpIndex> read_dump(RunCapture& run);

// fn(bytes) for the payload, piece by piece, in order.
Expected<void> read_payload(RunCapture& run, const DumpEntry& entry,
                            const std::function<void(std::span<const unsigned char>)>& fn);
// All of it in memory.
Expected<std::vector<unsigned char>> load_payload(RunCapture& run, const DumpEntry& entry);

// The statistics of the bytes that are there, as the device takes them.
Expected<DumpStats> compute_stats(RunCapture& run, const DumpEntry& entry);

std::string dump_kernel_name(const RunCapture& run, const DumpHeader& header);

}  // namespace tidemark
