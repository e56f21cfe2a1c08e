// SPDX-License-Identifier: Apache-2.0
#include "tidemark/cli/bench/bench_sink.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tidemark/base/check.h"
#include "tidemark/capture/streaming_copy.h"

namespace tidemark::cli {
namespace {

constexpr std::uint64_t kMemoryBytes = 128ull << 20;

}  // namespace

MemorySink::MemorySink(std::uint32_t page_bytes)
    : slot_bytes_(page_bytes + kChunkAlign), slots_(kMemoryBytes / (page_bytes + kChunkAlign)) {
  void* memory = ::mmap(nullptr, slots_ * slot_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  CHECK(memory != MAP_FAILED);
  memory_ = static_cast<unsigned char*>(memory);
}

MemorySink::~MemorySink() { ::munmap(memory_, slots_ * slot_bytes_); }

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
  return true;
}

Expected<std::unique_ptr<FileSink>> FileSink::create(const std::string& directory) {
  static int number = 0;
  std::unique_ptr<FileSink> sink(new FileSink);
  sink->path_ = fmt::format("{}/tidemark-bench-{}-{}.tide", directory, ::getpid(), ++number);
  auto writer = CaptureWriter::create(sink->path_, 1);
  if (!writer) return tl::unexpected(writer.error());
  sink->writer_ = std::move(*writer);
  return sink;
}

FileSink::~FileSink() {
  writer_.reset();
  ::unlink(path_.c_str());
}

Expected<std::unique_ptr<PageSink>> make_bench_sink(const BenchOptions& options) {
  if (options.sink == "memory")
    return std::unique_ptr<PageSink>(std::make_unique<MemorySink>(options.page_bytes));
  if (options.sink != "file")
    return failure(ErrorKind::kUsage, "--sink {}: memory or file", options.sink);
  auto file = FileSink::create(options.directory);
  if (!file) return tl::unexpected(file.error());
  return std::unique_ptr<PageSink>(std::move(*file));
}

void reference_sink(void* context, const unsigned char* page, std::size_t bytes) {
  PageDelivery delivery{};
  delivery.payload_bytes = bytes;
  delivery.payload = page;
  static_cast<PageSink*>(context)->append(delivery);
}

}  // namespace tidemark::cli
