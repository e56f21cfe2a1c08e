// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/run_capture.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "tidemark/base/plain_text.h"
#include "tidemark/capture/capture_ledger.h"
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

Expected<RunCapture> RunCapture::open(const std::string& directory, CaptureReader::Open how) {
  const std::string path = directory + "/" + kCaptureFile;
  std::error_code code;
  if (!std::filesystem::exists(path, code))
    return failure(ErrorKind::kUsage,
                   "{} is not a run with a capture: {} is missing (was any stream on? see "
                   "'tidemark run --help')",
                   directory, kCaptureFile);
  TM_TRY(auto reader, CaptureReader::open(path, how));
  RunCapture run(std::move(reader));
  run.directory_ = directory;
  TM_TRY(run.description_, read_description(run.reader_));
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
    if (run.lanes_[i].stream == StreamId::kNone &&
        is_known_lane(records[i].plan, page_bytes - kPageHeaderBytes))
      run.lanes_[i] = records[i].plan;
  for (LanePlan& lane : run.lanes_) clean_producer(lane);
  run.pages_.resize(run.lanes_.size());
  for (const auto& chunk : page_chunks(run.reader_))
    if (chunk.lane < run.lanes_.size()) run.pages_[chunk.lane].push_back(chunk);
  return run;
}

std::optional<PageHeaderImage> RunCapture::page_header(const IndexEntry& chunk) const {
  PageHeaderImage header{};
  if (!reader_.read_begin(chunk, {reinterpret_cast<unsigned char*>(&header), sizeof(header)}))
    return std::nullopt;
  const PageExpectation expected{.run_id = reader_.run_id(),
                                 .lane_count = static_cast<std::uint32_t>(lanes_.size()),
                                 .payload_bytes = description_.page_bytes - kPageHeaderBytes};
  const bool sound = check_page(header, expected) == PageFault::kNone &&
                     header.lane == chunk.lane && header.sequence == chunk.sequence &&
                     check_page_of_lane(header, lanes_[header.lane]) == PageFault::kNone;
  return sound ? std::optional(header) : std::nullopt;
}

bool RunCapture::fatal() const {
  return !outcome_ ||
         (outcome_->status != RunStatus::kOk && outcome_->status != RunStatus::kMismatch);
}

std::vector<LaneIndex> RunCapture::lanes_of(StreamId stream) const {
  std::vector<LaneIndex> found;
  for (LaneIndex lane = 0; lane < lanes_.size(); ++lane)
    if (lanes_[lane].stream == stream) found.push_back(lane);
  return found;
}

RecordCursor RunCapture::records(LaneIndex lane) { return RecordCursor(pages(lane)); }

PageCursor RunCapture::pages(LaneIndex lane) {
  const PagesOfRun run{static_cast<std::uint32_t>(lanes_.size()), description_.page_bytes};
  return {&reader_, run, lanes_[lane], pages_[lane]};
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
  if (losses_) return {};
  TM_TRY(losses_, read_lane_losses(reader_, lanes_, description_.page_bytes, clock_));
  return {};
}

Expected<std::vector<LaneGap>> RunCapture::gaps() {
  TM_TRY_DO(read_losses());
  return losses_->gaps;
}

Expected<std::reference_wrapper<const LaneLosses>> RunCapture::lane_losses() {
  TM_TRY_DO(read_losses());
  return std::cref(*losses_);
}

Expected<RunCapture::Losses> RunCapture::losses(StreamId stream) {
  TM_TRY_DO(read_losses());
  Losses sum;
  for (const LaneIndex lane : lanes_of(stream)) {
    TM_TRY(const Losses lost, losses_of(lane));
    sum.dropped += lost.dropped;
    sum.overwritten += lost.overwritten;
  }
  return sum;
}

Expected<RunCapture::Losses> RunCapture::losses_of(LaneIndex lane) {
  TM_TRY_DO(read_losses());
  const LaneCounts& counts = losses_->counts[lane];
  return Losses{counts.dropped + counts.unaccounted(), counts.overwritten};
}

Expected<std::uint64_t> RunCapture::missing(StreamId stream) {
  TM_TRY(const auto lost, losses(stream));
  return lost.dropped + lost.overwritten;
}

Expected<std::span<const unsigned char>> RunCapture::read_chunk(std::uint32_t chunk) {
  if (chunk >= reader_.chunks().size())
    return failure(ErrorKind::kDamage, "the capture has no chunk {}", chunk);
  const IndexEntry& entry = reader_.chunks()[chunk];
  // Chunks that are of no lane, such as snapshots, share the last place.
  kept_.resize(lanes_.size() + 1);
  KeptChunk& kept = kept_[std::min<std::size_t>(entry.lane, lanes_.size())];
  if (kept.chunk != chunk) {
    TM_TRY(const auto bytes, reader_.read(entry));
    kept.bytes.assign(bytes.begin(), bytes.end());
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
    if (chunk.type != ChunkType::kSnapshot) continue;
    if (const auto bytes = reader_.read(chunk)) fn(*bytes, number_of(chunk));
  }
}

// Chunks are in the order of the file.
std::uint32_t RunCapture::number_of(const IndexEntry& chunk) const {
  const auto& chunks = reader_.chunks();
  const auto found =
      std::ranges::lower_bound(chunks, chunk.file_offset, {}, &IndexEntry::file_offset);
  return static_cast<std::uint32_t>(found - chunks.begin());
}

void RunCapture::for_each_fragment_of(
    LaneIndex lane, const std::function<void(const Fragment&, std::uint32_t, std::uint64_t)>& fn) {
  PageCursor cursor = pages(lane);
  while (cursor.next()) {
    if (cursor.header().record_bytes != 0) continue;
    const std::uint32_t chunk = number_of(cursor.chunk());
    const unsigned char* begin = cursor.payload().data() - kPageHeaderBytes;
    for_each_fragment(cursor.header(), cursor.payload(), [&](const Fragment& fragment) {
      fn(fragment, chunk, static_cast<std::uint64_t>(fragment.bytes.data() - begin));
    });
  }
}

}  // namespace tidemark
