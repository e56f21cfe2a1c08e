// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/run_capture.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "tidemark/base/plain_text.h"
#include "tidemark/capture/page_chunks.h"
#include "tidemark/run/output_directory.h"

namespace tidemark {
namespace {

// Plain text is never longer than what it was made of.
void clean_producer(LanePlan& lane) {
  const std::string text =
      plain_text({lane.producer, ::strnlen(lane.producer, kProducerTextBytes - 1)});
  std::memset(lane.producer, 0, sizeof(lane.producer));
  std::memcpy(lane.producer, text.data(), text.size());
}

}  // namespace

Expected<RunCapture> RunCapture::open(const std::string& directory) {
  const std::string path = directory + "/" + kCaptureFile;
  std::error_code code;
  if (!std::filesystem::exists(path, code))
    return failure(ErrorKind::kUsage,
                   "{} is not a run with a capture: {} is missing (was any stream on? see "
                   "'tidemark run --help')",
                   directory, kCaptureFile);
  auto reader = CaptureReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  RunCapture run(std::move(*reader));
  run.directory_ = directory;
  auto description = read_description(run.reader_);
  if (!description) return tl::unexpected(description.error());
  run.description_ = std::move(*description);
  const std::uint32_t page_bytes = run.description_.page_bytes;
  if (page_bytes < kPageBytesMin || page_bytes > kPageBytesMax)
    return failure(ErrorKind::kDamage, "{}: the description names impossible pages of {} bytes",
                   path, page_bytes);
  run.clock_ = read_clock(run.reader_);
  run.names_ = read_names(run.reader_);
  run.outcome_ = read_outcome(run.reader_);
  run.lanes_ = run.description_.lanes;
  const auto records = read_lane_records(run.reader_);
  for (std::size_t i = 0; i < run.lanes_.size() && i < records.size(); ++i)
    if (run.lanes_[i].stream == 0 && is_known_lane(records[i].plan, page_bytes - kPageHeaderBytes))
      run.lanes_[i] = records[i].plan;
  for (LanePlan& lane : run.lanes_) clean_producer(lane);
  run.pages_.resize(run.lanes_.size());
  for (const auto& chunk : page_chunks(run.reader_))
    if (chunk.lane < run.lanes_.size()) run.pages_[chunk.lane].push_back(chunk);
  return run;
}

bool RunCapture::fatal() const {
  return !outcome_ ||
         (outcome_->status != RunStatus::kOk && outcome_->status != RunStatus::kMismatch);
}

std::vector<LaneIndex> RunCapture::lanes_of(StreamId stream) const {
  std::vector<LaneIndex> found;
  for (LaneIndex lane = 0; lane < lanes_.size(); ++lane)
    if (lanes_[lane].stream == static_cast<std::uint16_t>(stream)) found.push_back(lane);
  return found;
}

RecordCursor RunCapture::records(LaneIndex lane) {
  return {&reader_,
          lanes_[lane],
          lane,
          static_cast<std::uint32_t>(lanes_.size()),
          description_.page_bytes,
          pages_[lane]};
}

std::string RunCapture::name_of(std::uint64_t hash) const {
  const auto found = names_.find(hash);
  return found == names_.end() ? fmt::format("0x{:016x}", hash) : found->second;
}

std::string RunCapture::kernel_name(std::uint32_t kernel) const {
  return kernel < description_.kernels.size() ? description_.kernels[kernel]
                                              : fmt::format("kernel_{}", kernel);
}

std::string RunCapture::site_of(std::uint64_t file_hash, std::uint32_t line) const {
  return fmt::format("{}:{}", name_of(file_hash), line);
}

Expected<void> RunCapture::read_losses() {
  if (knows_losses_) return {};
  const auto visit = [&](const CapturedPage& page) {
    const PageHeaderImage& header = page.header;
    if (header.dropped_before > 0)
      gaps_.push_back({header.lane, header.gap_begin_ticks, header.gap_end_ticks,
                       header.dropped_before,
                       static_cast<DropReason>(header.gap_reason % kDropReasonCount)});
    if (header.stall_ticks > 0 && header.stall_ticks < header.open_ticks)
      gaps_.push_back({.lane = header.lane,
                       .from_ticks = header.open_ticks - header.stall_ticks,
                       .to_ticks = header.open_ticks});
  };
  auto ledger = read_ledger(reader_, lanes_, description_.page_bytes, visit);
  if (!ledger) return tl::unexpected(ledger.error());
  std::vector<std::uint64_t> lost_in_pages;
  for (const auto& lane : ledger->lanes) lost_in_pages.push_back(lane.ledger.counts().gap_lost);
  finish_lanes(*ledger);
  for (LaneIndex i = 0; i < ledger->lanes.size(); ++i) {
    const LaneCounts& counts = ledger->lanes[i].ledger.counts();
    const LaneWordsImage& words = ledger->lanes[i].words;
    losses_.push_back({counts.dropped + counts.unaccounted(), counts.overwritten});
    if (ledger->lanes[i].has_words && counts.gap_lost > lost_in_pages[i])
      gaps_.push_back({i, words.tail_gap_begin_ticks, words.tail_gap_end_ticks,
                       counts.gap_lost - lost_in_pages[i],
                       static_cast<DropReason>(words.tail_gap_reason % kDropReasonCount)});
  }
  knows_losses_ = true;
  return {};
}

Expected<std::vector<LaneGap>> RunCapture::gaps() {
  if (auto read = read_losses(); !read) return tl::unexpected(read.error());
  return gaps_;
}

Expected<RunCapture::Losses> RunCapture::losses(StreamId stream) {
  if (auto read = read_losses(); !read) return tl::unexpected(read.error());
  Losses sum;
  for (const LaneIndex lane : lanes_of(stream)) {
    sum.dropped += losses_[lane].dropped;
    sum.overwritten += losses_[lane].overwritten;
  }
  return sum;
}

Expected<std::uint64_t> RunCapture::missing(StreamId stream) {
  const auto lost = losses(stream);
  if (!lost) return tl::unexpected(lost.error());
  return lost->dropped + lost->overwritten;
}

Expected<std::span<const unsigned char>> RunCapture::read_chunk(std::uint32_t chunk) {
  if (chunk >= reader_.chunks().size())
    return failure(ErrorKind::kDamage, "the capture has no chunk {}", chunk);
  const IndexEntry& entry = reader_.chunks()[chunk];
  // Chunks that are of no lane, such as snapshots, share the last place.
  kept_.resize(lanes_.size() + 1);
  KeptChunk& kept = kept_[std::min<std::size_t>(entry.lane, lanes_.size())];
  if (kept.chunk != chunk) {
    const auto bytes = reader_.read(entry);
    if (!bytes) return tl::unexpected(bytes.error());
    kept.bytes.assign(bytes->begin(), bytes->end());
    kept.chunk = chunk;
  }
  return std::span<const unsigned char>(kept.bytes);
}

std::optional<HangState> RunCapture::hang() {
  const IndexEntry* chunk = reader_.last_of(ChunkType::kHang);
  if (chunk == nullptr) return std::nullopt;
  const auto bytes = reader_.read(*chunk);
  if (!bytes) return std::nullopt;
  return parse_hang_state({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

void RunCapture::for_each_snapshot(
    const std::function<void(std::span<const unsigned char>, std::uint32_t)>& fn) {
  for (const IndexEntry& chunk : reader_.chunks()) {
    if (chunk.type != static_cast<std::uint16_t>(ChunkType::kSnapshot)) continue;
    if (const auto bytes = reader_.read(chunk)) fn(*bytes, number_of(chunk));
  }
}

// Chunks stand in the order of the file.
std::uint32_t RunCapture::number_of(const IndexEntry& chunk) const {
  const auto& chunks = reader_.chunks();
  const auto found = std::lower_bound(
      chunks.begin(), chunks.end(), chunk,
      [](const IndexEntry& a, const IndexEntry& b) { return a.file_offset < b.file_offset; });
  return static_cast<std::uint32_t>(found - chunks.begin());
}

void RunCapture::for_each_fragment_of(
    LaneIndex lane, const std::function<void(const Fragment&, std::uint32_t, std::uint64_t)>& fn) {
  std::uint64_t last_sequence = 0;
  std::uint32_t last_epoch = 0;
  for (const IndexEntry& chunk : pages_[lane]) {
    const std::uint32_t chunk_number = number_of(chunk);
    const auto bytes = reader_.read(chunk);
    if (!bytes || bytes->size() < kPageHeaderBytes) continue;
    PageHeaderImage header;
    std::memcpy(&header, bytes->data(), sizeof(header));
    const PageExpectation expected{.run_id = reader_.run_id(),
                                   .lane_count = static_cast<std::uint32_t>(lanes_.size()),
                                   .payload_bytes = description_.page_bytes - kPageHeaderBytes};
    if (check_page(header, expected) != PageFault::kNone || header.lane != lane ||
        check_page_of_lane(header, lanes_[lane]) != PageFault::kNone || header.record_bytes != 0)
      continue;
    if (header.sequence == last_sequence && header.epoch == last_epoch) continue;
    last_sequence = header.sequence;
    last_epoch = header.epoch;
    const auto payload = bytes->subspan(kPageHeaderBytes);
    for_each_fragment(header, payload, [&](const Fragment& fragment) {
      const auto at = static_cast<std::uint64_t>(fragment.bytes.data() - bytes->data());
      fn(fragment, chunk_number, at);
    });
  }
}

}  // namespace tidemark
