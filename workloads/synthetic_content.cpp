// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic_content.h"

namespace tidemark {
namespace {

constexpr std::uint64_t kBelowStamp = (std::uint64_t{1} << 48) - 1;

constexpr std::size_t kProblemsMax = 50;

unsigned char frame_byte(std::uint64_t key, std::uint64_t offset) {
  return static_cast<unsigned char>(mix(key + offset / 8) >> (offset % 8 * 8));
}

std::uint64_t frame_key(std::uint64_t lane, std::uint64_t frame) {
  return mix(lane * 0x9E3779B97F4A7C15ull + frame);
}

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
    const std::uint64_t stored = word % 2 == 1 ? words[word] & kBelowStamp : words[word];
    if (stored != synthetic_padding(number, word)) return false;
  }
  return true;
}

void fill_synthetic_frame(std::uint64_t lane, std::uint64_t frame, std::span<unsigned char> bytes) {
  const std::uint64_t key = frame_key(lane, frame);
  for (std::uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = frame_byte(key, i);
}

bool verify_synthetic_bytes(std::uint64_t lane, std::uint64_t frame, std::uint64_t offset,
                            std::span<const unsigned char> bytes) {
  const std::uint64_t key = frame_key(lane, frame);
  for (std::uint64_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != frame_byte(key, offset + i)) return false;
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
  if (page.lane.stream == static_cast<std::uint16_t>(StreamId::kSwimlane))
    for_each_record(
        page.header, page.payload, [&](std::uint64_t number, const unsigned char* record) {
          judge(number,
                verify_synthetic_span(page.lane.unit, number, page.lane.record_bytes, record));
        });
  if (page.lane.stream == static_cast<std::uint16_t>(StreamId::kDump))
    for_each_fragment(page.header, page.payload, [&](const Fragment& fragment) {
      judge(fragment.frame_number, verify_synthetic_bytes(page.lane.unit, fragment.frame_number,
                                                          fragment.offset, fragment.bytes));
    });
  return verified;
}

}  // namespace tidemark
