// SPDX-License-Identifier: Apache-2.0
// Pages with known content for tests of the capture, without a region or a producer.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "tidemark/capture/capture_writer.h"
#include "tidemark/capture/testing/sample_recording.h"

namespace tidemark::samples {

struct SamplePage {
  PageHeaderImage header{};
  std::vector<unsigned char> payload;

  [[nodiscard]] PageDelivery delivery() const {
    return {.header = header,
            .payload_bytes = payload.size(),
            .recovered = false,
            .payload = payload.data()};
  }
  // As it is in a chunk.
  [[nodiscard]] std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> bytes(kPageHeaderBytes + payload.size());
    std::memcpy(bytes.data(), &header, sizeof(header));
    if (!payload.empty())
      std::memcpy(bytes.data() + kPageHeaderBytes, payload.data(), payload.size());
    return bytes;
  }
};

// A sealed page of `count` spans, the page number `sequence` of its lane, stamped with 1.
inline SamplePage make_page(std::uint32_t lane, std::uint64_t sequence, std::uint32_t count) {
  SamplePage page;
  page.header = {.sequence = sequence,
                 .run_id = kRunId,
                 .lane = lane,
                 .epoch = 1,
                 .generation = 1,
                 .record_bytes = TaskSpan::kBytes,
                 .first_number = (sequence - 1) * count,
                 .record_count = count,
                 .used_bytes = count * TaskSpan::kBytes,
                 .gap_reason = 0,
                 .open_ticks = kLaunchTicks,
                 .close_ticks = kLaunchTicks + 1,
                 .first_frame_offset = kNoFrame};
  page.payload.resize(page.header.used_bytes);
  for (std::uint32_t i = 0; i < count; ++i)
    store_record(page.payload.data() + i * TaskSpan::kBytes,
                 sample_span(lane, page.header.first_number + i), std::uint64_t{1} << 48);
  return page;
}

inline LanePlan record_lane(const std::string& producer = "worker") {
  LanePlan plan{};
  plan.stream = StreamId::kSwimlane;
  plan.overflow = Overflow::kWait;
  plan.record_bytes = TaskSpan::kBytes;
  plan.reserved_first_page = kNoPageIndex;
  std::strncpy(plan.producer, producer.c_str(), kProducerTextBytes - 1);
  return plan;
}

// A finished capture of `pages` pages on each of two lanes, between a description and names.
inline void write_page_capture(const std::string& path, std::uint64_t pages,
                               std::uint32_t spans_per_page) {
  auto writer = CaptureWriter::create(path, kRunId).value();
  TM_CHECK(writer->append_text(ChunkType::kDescription, "{\"the\": \"description\"}"));
  for (std::uint64_t sequence = 1; sequence <= pages; ++sequence)
    for (std::uint32_t lane = 0; lane < 2; ++lane)
      TM_CHECK(writer->append(make_page(lane, sequence, spans_per_page).delivery()));
  TM_CHECK(writer->append_text(ChunkType::kNames, "{}"));
  TM_CHECK(writer->append_lanes(std::vector<unsigned char>(2 * sizeof(LaneRecord), 0), false));
  TM_CHECK(writer->finish());
}

}  // namespace tidemark::samples
