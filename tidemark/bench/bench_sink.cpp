// SPDX-License-Identifier: Apache-2.0
#include "tidemark/bench/bench_sink.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "tidemark/base/check.h"
#include "tidemark/bench/bench_span.h"
#include "tidemark/capture/streaming_copy.h"

namespace tidemark::bench {
namespace {

constexpr std::uint64_t kMemoryBytes = 128ull << 20;

// How many groups of records in a page hold one that is not what the bench writes (bench_span.h).
// A record of 32 bytes is one vector: it must keep up with the link.
TM_INLINE std::uint64_t compare_records(const PageHeaderImage& header, const unsigned char* payload,
                                        std::uint64_t time_mask) {
  using Words = std::uint64_t __attribute__((vector_size(32), aligned(16)));
  const std::uint32_t vectors = header.record_bytes / 32;
  if (vectors < 1 || header.record_bytes % 32 != 0) return header.record_count;
  const std::uint64_t stamp = std::uint64_t{header.generation} << 48;
  const std::uint64_t number = header.first_number;
  std::uint64_t first[4], padding[4] = {number, number | stamp, number, number | stamp};
  bench_span(number, number, number + 1).pack(first);
  Words wanted{first[0], first[1] | stamp, first[2], first[3] | stamp};
  Words wanted_padding{padding[0], padding[1], padding[2], padding[3]};
  const std::uint64_t times = time_mask | ~kTicks48Mask;
  const Words mask{~0ull, times, ~0ull, times}, step{1, 1, 0, 1}, padding_step{1, 1, 1, 1};
  const auto* records = reinterpret_cast<const Words*>(payload);
  std::uint64_t wrong = 0;
  constexpr std::uint64_t kGroup = 64;  // records judged together, while nothing is wrong
  for (std::uint64_t i = 0; i < header.record_count;) {
    const std::uint64_t stop = std::min(header.record_count, i + kGroup);
    Words group{};
    for (; i < stop; ++i, records += vectors) {
      Words difference = (records[0] ^ wanted) & mask;
      for (std::uint32_t v = 1; v < vectors; ++v) difference |= records[v] ^ wanted_padding;
      group |= difference;
      wanted += step;
      wanted_padding += padding_step;
    }
    if ((group[0] | group[1] | group[2] | group[3]) != 0) wrong += 1;  // at least one
  }
  return wrong;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) std::uint64_t compare_records_avx2(const PageHeaderImage& header,
                                                                   const unsigned char* payload,
                                                                   std::uint64_t time_mask) {
  return compare_records(header, payload, time_mask);
}
#endif

std::uint64_t count_wrong(const PageHeaderImage& header, const unsigned char* payload,
                          std::uint64_t time_mask) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return compare_records_avx2(header, payload, time_mask);
#endif
  return compare_records(header, payload, time_mask);
}

}  // namespace

MemorySink::MemorySink(std::uint32_t page_bytes, std::uint64_t keep_bytes)
    : slot_bytes_(page_bytes + kChunkAlign),
      slots_(std::max(kMemoryBytes, keep_bytes + keep_bytes / 8) / slot_bytes_),
      pages_(slots_ * slot_bytes_, MAP_PRIVATE | MAP_ANONYMOUS),
      memory_(pages_.data()) {
  TM_CHECK(pages_.valid());
  pages_.advise(MADV_HUGEPAGE);
  std::memset(pages_.base(), 0, pages_.bytes());
}

bool MemorySink::append(const PageDelivery& page) {
  unsigned char* to = memory_ + next_.fetch_add(1) % slots_ * slot_bytes_;
  std::uint64_t sum = 0;
  if (page.payload != nullptr) {
    sum = copy_with_checksum(to, &page.header, kPageHeaderBytes, page.payload, page.payload_bytes);
  } else {
    page.port->read(page.payload_offset, to + kPageHeaderBytes, page.payload_bytes);
    sum = checksum(to + kPageHeaderBytes, page.payload_bytes);
  }
  checksums_.fetch_xor(sum, std::memory_order_relaxed);
  if (verify_ == Verify::kOnTheFly && page.payload != nullptr) compare(page.header, page.payload);
  return true;
}

void MemorySink::restart(Verify when, bool stamped) {
  verify_ = when;
  time_mask_ = stamped ? 0 : kTicks48Mask;
  next_.store(0);
  wrong_records_.store(0);
  verified_records_.store(0);
}

void MemorySink::compare(const PageHeaderImage& header, const unsigned char* payload) {
  wrong_records_.fetch_add(count_wrong(header, payload, time_mask_), std::memory_order_relaxed);
  verified_records_.fetch_add(header.record_count, std::memory_order_relaxed);
}

void MemorySink::second_pass(std::uint32_t threads) {
  if (verify_ != Verify::kSecondPass) return;
  const std::uint64_t pages = std::min(next_.load(), slots_);
  std::vector<std::thread> readers;
  for (std::uint32_t thread = 0; thread < threads; ++thread)
    readers.emplace_back([=, this] {
      for (std::uint64_t page = thread; page < pages; page += threads) {
        const unsigned char* at = memory_ + page * slot_bytes_;
        PageHeaderImage header;
        std::memcpy(&header, at, sizeof(header));
        compare(header, at + kPageHeaderBytes);
      }
    });
  for (auto& reader : readers) reader.join();
}

Expected<std::unique_ptr<FileSink>> FileSink::create(const std::string& directory) {
  static int number = 0;
  std::unique_ptr<FileSink> sink(new FileSink);
  sink->path_ = fmt::format("{}/tidemark-bench-{}-{}.tide", directory, ::getpid(), ++number);
  TM_TRY(sink->writer_, CaptureWriter::create(sink->path_, 1));
  return sink;
}

FileSink::~FileSink() {
  writer_.reset();
  ::unlink(path_.c_str());
}

Expected<std::unique_ptr<PageSink>> make_bench_sink(const BenchOptions& options) {
  if (options.sink == "memory")
    return std::unique_ptr<PageSink>(std::make_unique<MemorySink>(options.recorder.page_bytes));
  TM_TRY(auto file, FileSink::create(options.directory));
  return std::unique_ptr<PageSink>(std::move(file));
}

void reference_sink(void* context, const unsigned char* page, std::size_t bytes) {
  static_cast<PageSink*>(context)->append({.header = {}, .payload_bytes = bytes, .payload = page});
}

}  // namespace tidemark::bench
