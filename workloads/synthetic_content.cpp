// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic_content.h"

namespace tidemark {
namespace {

constexpr std::size_t kProblemsMax = 50;

}  // namespace

bool verify_synthetic_span(std::uint32_t lane, std::uint64_t number, std::uint32_t record_bytes,
                           const unsigned char* record) {
  std::uint64_t words[16] = {};
  if (record_bytes < TaskSpan::kBytes || record_bytes > sizeof(words)) return false;
  std::memcpy(words, record, record_bytes);
  const TaskSpan span = TaskSpan::unpack(words, 0);
  const TaskSpan expected = synthetic_span(lane, number, span.begin_ticks, span.end_ticks);
  if (span.task_id != number || span.core != expected.core || span.kernel != expected.kernel ||
      span.block != expected.block)
    return false;
  for (std::uint32_t word = 4; word < record_bytes / 8; ++word) {
    const std::uint64_t stored = word % 2 == 1 ? words[word] & kTicks48Mask : words[word];
    if (stored != synthetic_padding(number, word)) return false;
  }
  return true;
}

bool verify_synthetic_bytes(std::uint64_t lane, std::uint64_t frame, std::uint64_t offset,
                            std::span<const unsigned char> bytes) {
  const SyntheticFrame expected(lane, frame);
  for (std::uint64_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != expected.byte(offset + i)) return false;
  return true;
}

std::uint64_t verify_synthetic_page(const CapturedPage& page, std::vector<std::string>& problems) {
  std::uint64_t verified = 0;
  const auto judge = [&](std::uint64_t number, bool holds) {
    verified += holds;
    if (!holds && problems.size() < kProblemsMax)
      problems.push_back(
          fmt::format("{}: number {} does not hold what was written", page.lane.producer, number));
  };
  if (page.lane.stream == StreamId::kSwimlane)
    for_each_record(
        page.header, page.payload, [&](std::uint64_t number, const unsigned char* record) {
          judge(number,
                verify_synthetic_span(page.lane.unit, number, page.lane.record_bytes, record));
        });
  if (page.lane.stream == StreamId::kDump)
    for_each_fragment(page.header, page.payload, [&](const Fragment& fragment) {
      judge(fragment.frame_number, verify_synthetic_bytes(page.lane.unit, fragment.frame_number,
                                                          fragment.offset, fragment.bytes));
    });
  return verified;
}

}  // namespace tidemark
