// SPDX-License-Identifier: Apache-2.0
#include "tidemark/analyze/dump_index.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "tidemark/runtime/tensor/tensor_stats.h"
#include "tidemark/schema/task_limits.h"

namespace tidemark {
namespace {

// A frame as its fragments come: the ends are kept, the payload is only located.
class FrameCollector {
 public:
  explicit FrameCollector(std::vector<DumpEntry>& found, std::uint64_t& malformed)
      : found_(found), malformed_(malformed) {}

  void take(const Fragment& fragment, std::uint32_t chunk, std::uint64_t chunk_offset) {
    if (fragment.first) begin(fragment);
    if (!under_way_ || fragment.frame_number != number_ || fragment.offset != next_offset_) {
      under_way_ = false;  // an earlier fragment is missing
      return;
    }
    next_offset_ += fragment.bytes.size();
    split(fragment, chunk, chunk_offset);
    if (!fragment.last) return;
    under_way_ = false;
    finish(fragment.total_bytes);
  }

 private:
  void begin(const Fragment& fragment) {
    under_way_ = true;
    number_ = fragment.frame_number;
    next_offset_ = 0;
    head_bytes_ = tail_bytes_ = 0;
    entry_ = {};
  }

  // Which bytes of the fragment are header, payload, statistics.
  void split(const Fragment& fragment, std::uint32_t chunk, std::uint64_t chunk_offset) {
    std::uint64_t at = 0;
    const std::uint64_t size = fragment.bytes.size();
    if (head_bytes_ < sizeof(DumpHeader)) {
      at = std::min<std::uint64_t>(size, sizeof(DumpHeader) - head_bytes_);
      std::memcpy(head_ + head_bytes_, fragment.bytes.data(), at);
      head_bytes_ += at;
      if (head_bytes_ == sizeof(DumpHeader)) std::memcpy(&entry_.header, head_, sizeof(head_));
    }
    if (head_bytes_ < sizeof(DumpHeader)) return;
    // No sum with payload_bytes: it may be any number.
    const std::uint64_t done = fragment.offset + at - sizeof(DumpHeader);
    if (done < entry_.header.payload_bytes && at < size) {
      const std::uint64_t part = std::min(size - at, entry_.header.payload_bytes - done);
      entry_.payload.push_back(
          {chunk, static_cast<std::uint32_t>(chunk_offset + at), static_cast<std::uint32_t>(part)});
      at += part;
    }
    const std::uint64_t rest = std::min<std::uint64_t>(size - at, sizeof(tail_) - tail_bytes_);
    std::memcpy(tail_ + tail_bytes_, fragment.bytes.data() + at, rest);
    tail_bytes_ += rest;
  }

  void finish(std::uint64_t total_bytes) {
    const DumpHeader& header = entry_.header;
    const bool has_stats = (header.flags & kDumpHasStats) != 0;
    const std::uint64_t around = sizeof(DumpHeader) + (has_stats ? sizeof(DumpStats) : 0);
    const bool is_whole = head_bytes_ == sizeof(DumpHeader) && next_offset_ == total_bytes &&
                          total_bytes >= around && total_bytes - around == header.payload_bytes;
    if (!is_whole || !is_sane(header)) {
      ++malformed_;
      return;
    }
    if (has_stats) std::memcpy(&entry_.stats, tail_, sizeof(DumpStats));
    entry_.payload.shrink_to_fit();
    found_.push_back(std::move(entry_));
  }

  // A device may have written anything.
  static bool is_sane(const DumpHeader& header) {
    if (header.magic != kDumpMagic || header.rank > kRankMax) return false;
    if (dtype_bytes(header.dtype) == 0) return false;
    if (header.kind < DumpKind::kTensor || header.kind > DumpKind::kSkipped) return false;
    if (header.stage > DumpStage::kAtHang) return false;
    if (header.kind != DumpKind::kTensor) return header.payload_bytes == 0;
    std::uint64_t bytes = dtype_bytes(header.dtype);
    for (std::uint32_t i = 0; i < header.rank; ++i)
      if (__builtin_mul_overflow(bytes, header.extent[i], &bytes)) return false;
    return bytes == header.logical_bytes && header.payload_bytes <= bytes;
  }

  std::vector<DumpEntry>& found_;
  std::uint64_t& malformed_;
  bool under_way_ = false;
  std::uint64_t number_ = 0, next_offset_ = 0;
  std::uint64_t head_bytes_ = 0, tail_bytes_ = 0;
  unsigned char head_[sizeof(DumpHeader)] = {};
  unsigned char tail_[sizeof(DumpStats)] = {};
  DumpEntry entry_;
};

}  // namespace

Expected<DumpIndex> read_dump(RunCapture& run) {
  if (!run.has(StreamId::kDump))
    return failure(ErrorKind::kUsage, "{}: nothing was dumped; run with --dump-tensor",
                   run.directory());
  DumpIndex index;
  std::vector<DumpEntry> all;
  for (const LaneIndex lane : run.lanes_of(StreamId::kDump)) {
    FrameCollector collector(all, index.malformed);
    run.for_each_fragment_of(
        lane, [&](const Fragment& fragment, std::uint32_t chunk, std::uint64_t offset) {
          collector.take(fragment, chunk, offset);
        });
  }
  run.for_each_snapshot([&](std::span<const unsigned char> frame, std::uint32_t chunk) {
    FrameCollector collector(all, index.malformed);
    Fragment whole{};
    whole.total_bytes = frame.size();
    whole.first = whole.last = true;
    whole.bytes = frame;
    collector.take(whole, chunk, 0);
  });
  std::set<std::string> skipped;
  std::erase_if(all, [&](const DumpEntry& entry) {
    if (entry.header.kind != DumpKind::kSkipped) return false;
    if (entry.header.skip_reason == SkipReason::kInvalidView) {
      index.invalid.push_back(fmt::format("{} {}, argument {}", task_text(entry.header.task_id),
                                          dump_kernel_name(run, entry.header),
                                          entry.header.arg_index));
      return true;
    }
    ++index.skipped_tasks;
    skipped.insert(dump_kernel_name(run, entry.header));
    return true;
  });
  index.entries = std::move(all);
  index.skipped_kernels.assign(skipped.begin(), skipped.end());
  std::ranges::sort(index.entries, {}, [](const DumpEntry& entry) {
    return std::tuple(entry.header.task_id, entry.header.stage, entry.header.arg_index);
  });
  TM_TRY(const auto losses, run.losses(StreamId::kDump));
  index.dropped = losses.dropped;
  index.overwritten = losses.overwritten;
  return index;
}

Expected<void> read_payload(RunCapture& run, const DumpEntry& entry,
                            const std::function<void(std::span<const unsigned char>)>& fn) {
  for (const DumpPiece& piece : entry.payload) {
    TM_TRY(const auto bytes, run.read_chunk(piece.chunk));
    if (piece.offset > bytes.size() || piece.bytes > bytes.size() - piece.offset)
      return failure(ErrorKind::kDamage, "the capture changed while it was read");
    fn(bytes.subspan(piece.offset, piece.bytes));
  }
  return {};
}

Expected<std::vector<unsigned char>> load_payload(RunCapture& run, const DumpEntry& entry) {
  std::vector<unsigned char> all;
  std::size_t bytes_there = 0;  // not what the header says: it may say anything
  for (const DumpPiece& piece : entry.payload) bytes_there += piece.bytes;
  all.reserve(bytes_there);
  TM_TRY_DO(read_payload(run, entry, [&](std::span<const unsigned char> bytes) {
    all.insert(all.end(), bytes.begin(), bytes.end());
  }));
  if (all.size() != entry.header.payload_bytes)
    return failure(ErrorKind::kDamage, "{}, argument {}: {} of {} bytes of its payload are there",
                   task_text(entry.header.task_id), entry.header.arg_index, all.size(),
                   entry.header.payload_bytes);
  return all;
}

Expected<DumpStats> compute_stats(RunCapture& run, const DumpEntry& entry) {
  TensorStats stats(entry.header.dtype);
  // Pieces are cut anywhere; the statistics want whole words.
  std::vector<unsigned char> rest;
  TM_TRY_DO(read_payload(run, entry, [&](std::span<const unsigned char> part) {
    rest.insert(rest.end(), part.begin(), part.end());
    const std::size_t whole = rest.size() / 8 * 8;
    stats.add(rest.data(), whole);
    rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(whole));
  }));
  stats.add(rest.data(), rest.size());
  return stats.result();
}

std::string dump_kernel_name(const RunCapture& run, const DumpHeader& header) {
  std::string text;
  for (const std::uint16_t kernel : header.kernels)
    if (kernel != kNoKernel) text += (text.empty() ? "" : "+") + run.kernel_name(kernel);
  return text.empty() ? "none" : text;
}

}  // namespace tidemark
