// SPDX-License-Identifier: Apache-2.0
// The sinks of the benches: memory or a capture file, the same code for the recorder and for the
// reference.
#pragma once

#include <atomic>
#include <memory>

#include "tidemark/base/mapped_memory.h"
#include "tidemark/bench/bench_options.h"
#include "tidemark/capture/capture_writer.h"

namespace tidemark::bench {

// Copies and checksums every page into a ring of memory larger than the caches.
class MemorySink : public PageSink {
 public:
  // With keep_bytes, that much payload is kept instead of overwritten.
  explicit MemorySink(std::uint32_t page_bytes, std::uint64_t keep_bytes = 0);
  bool append(const PageDelivery& page) override;
  // Begins again, with nothing in it. Every record is compared with what the bench writes, when it
  // comes or in a second pass; with `stamped`, its times are not.
  enum class Verify { kNever, kOnTheFly, kSecondPass };
  void restart(Verify when, bool stamped);
  void second_pass(std::uint32_t threads);
  [[nodiscard]] std::uint64_t wrong_records() const { return wrong_records_.load(); }
  [[nodiscard]] std::uint64_t verified_records() const { return verified_records_.load(); }

 private:
  void compare(const PageHeaderImage& header, const unsigned char* payload);

  Verify verify_ = Verify::kNever;
  std::uint64_t time_mask_ = 0;
  std::atomic<std::uint64_t> wrong_records_{0};
  std::atomic<std::uint64_t> verified_records_{0};
  std::uint64_t slot_bytes_;
  std::uint64_t slots_;
  MappedMemory pages_;
  unsigned char* memory_;
  alignas(128) std::atomic<std::uint64_t> next_{0};
  alignas(128) std::atomic<std::uint64_t> checksums_{0};
};

// A capture file that is removed with its owner.
class FileSink : public PageSink {
 public:
  static Expected<std::unique_ptr<FileSink>> create(const std::string& directory);
  ~FileSink() override;
  bool append(const PageDelivery& page) override { return writer_->append(page); }

 private:
  std::string path_;
  std::unique_ptr<CaptureWriter> writer_;
};

Expected<std::unique_ptr<PageSink>> make_bench_sink(const BenchOptions& options);

// The reference's way into a sink; context is the PageSink.
void reference_sink(void* context, const unsigned char* page, std::size_t bytes);

}  // namespace tidemark::bench
