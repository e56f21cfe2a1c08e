// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/read_producers.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "tidemark/base/plain_text.h"
#include "tidemark/ledger/page_content.h"
#include "tidemark/schema/stream_registry.h"
#include "tidemark/schema/ticks48.h"
#include "tidemark/transport/open_page.h"

namespace tidemark {
namespace {

constexpr int kReadsMax = 4;

class ProducerReader {
 public:
  ProducerReader(const RegionPort& port, const RegionPlan& plan)
      : port_(port), plan_(plan), page_(plan.layout.shape.page_bytes) {}

  ProducerState read(LaneIndex lane, const LanePlan& plan, const LaneWordsImage& words) {
    ProducerState producer{
        .lane = lane,
        .producer = plain_text({plan.producer, ::strnlen(plan.producer, kProducerTextBytes)}),
        .stream = std::string(find_stream(plan.stream)->name),
        .state = words.state,
        .waits_for_page = words.waiting == 1,
        .records = words.attempted};
    if (producer.producer.empty()) producer.producer = fmt::format("lane {}", lane);
    if (words.state != LaneState::kOpen) return producer;
    const AtLineImage line = read_line(lane);
    // Of who has said nothing, nothing was ever heard.
    producer.since_ticks = line.since_ticks != 0
                               ? line.since_ticks
                               : port_.load(offsetof(RegionHeader, device.launch_ticks));
    producer.place = line.place;
    if (line.what != 0) {
      const AtWord at = decode_at(line.what);
      producer.at = name_of(at.name_slot);
      producer.waits = at.waits;
      producer.number = at.number;
    }
    read_open_page(plan, words, producer);
    return producer;
  }

 private:
  // Two readings that agree: a producer that runs stores while it is read.
  [[nodiscard]] AtLineImage read_line(LaneIndex lane) const {
    const std::uint64_t offset = plan_.layout.lane_offset(lane) + offsetof(LaneEntry, at);
    AtLineImage line{}, again{};
    port_.read(offset, &line, sizeof(line));  // pairs with [producer at]
    for (int i = 0; i < kReadsMax; ++i) {
      port_.read(offset, &again, sizeof(again));  // pairs with [producer at]
      if (std::memcmp(&line, &again, sizeof(line)) == 0) break;
      line = again;
    }
    return line;
  }

  std::string name_of(std::uint32_t slot) {
    if (slot >= plan_.layout.shape.name_slots) return "(no room for its name)";
    const auto known = names_.find(slot);
    if (known != names_.end()) return known->second;
    const std::uint64_t offset = plan_.layout.names_offset + std::uint64_t{slot} * sizeof(NameSlot);
    // pairs with [name whole]
    const std::uint64_t length = port_.load(offset + offsetof(NameSlot, length));
    if (length == 0 || length > kNameTextBytes) return fmt::format("name {}", slot);
    char text[kNameTextBytes];
    port_.read(offset + offsetof(NameSlot, text), text, sizeof(text));
    return names_[slot] = plain_text({text, static_cast<std::size_t>(length)});
  }

  void read_open_page(const LanePlan& plan, const LaneWordsImage& words, ProducerState& producer) {
    if (words.open_page_index >= plan_.layout.shape.page_count) return;
    const std::uint64_t offset =
        plan_.layout.page_offset(static_cast<PageIndex>(words.open_page_index));
    port_.read(offset, page_.data(), page_.size());
    PageHeaderImage header;
    std::memcpy(&header, page_.data(), sizeof(header));
    if (header.lane != producer.lane || header.record_count != kPageOpen ||
        check_page(header, expected_pages(plan_)) != PageFault::kNone ||
        !is_known_lane(plan, plan_.layout.payload_bytes()) ||
        check_page_of_lane(header, plan) != PageFault::kNone)
      return;
    const std::span payload = std::span(page_).subspan(kPageHeaderBytes);
    first_.assign(payload.begin(), payload.end());
    port_.read(offset + kPageHeaderBytes, payload.data(), payload.size());
    settle_open_page(header, first_.data(), payload);
    // pairs with [page emptied]: else the page was turned under the reading
    if (port_.load(offset) != header.sequence) return;
    producer.record_ticks = header.open_ticks;
    if (header.record_bytes == 0) {
      producer.records = header.first_number + count_page(header, payload).whole;
      return;
    }
    const unsigned char* last = nullptr;
    for_each_record(header, payload, [&](std::uint64_t number, const unsigned char* record) {
      producer.record_number = number;
      last = record;
    });
    producer.records = std::max(producer.records, header.first_number);
    if (last == nullptr) return;
    producer.records = producer.record_number + 1;
    describe(*find_stream(plan.stream), header, last, producer);
  }

  // The fields that are not times, by their names.
  void describe(const StreamInfo& stream, const PageHeaderImage& header,
                const unsigned char* record, ProducerState& producer) {
    std::vector<unsigned char> bytes(record, record + header.record_bytes);
    for (std::size_t at = kStampOffset; at < bytes.size(); at += kQuantumBytes)
      std::memset(bytes.data() + at, 0, sizeof(Stamp));
    const RecordKind* kind = stream.kind_of(bytes.data());
    if (kind == nullptr) return;
    producer.record = kind->name;
    for (const Field& field : kind->fields) {
      const std::uint64_t value = field.read(bytes.data());
      if (field.type == FieldType::kTicks48)
        producer.record_ticks = std::max(header.open_ticks, full_ticks(value, header.open_ticks));
      else if (field.type == FieldType::kHash64)
        producer.record += fmt::format(" {} {}", field.name, text_of_hash(value));
      else if (field.type == FieldType::kI64)
        producer.record += fmt::format(" {} {}", field.name, static_cast<std::int64_t>(value));
      else if (field.type != FieldType::kF64)
        producer.record += fmt::format(" {} {}", field.name, value);
    }
  }

  // A name lies at the first free place behind its hash.
  std::string text_of_hash(std::uint64_t hash) {
    const std::uint32_t slots = plan_.layout.shape.name_slots;
    for (std::uint32_t probe = 0; probe < slots; ++probe) {
      const auto slot = static_cast<std::uint32_t>((hash + probe) & (slots - 1));
      const std::uint64_t seen =
          port_.load(plan_.layout.names_offset + std::uint64_t{slot} * sizeof(NameSlot));
      if (seen == hash) return name_of(slot);
      if (seen == 0) break;
    }
    return fmt::format("{:016x}", hash);
  }

  const RegionPort& port_;
  const RegionPlan& plan_;
  std::vector<unsigned char> page_, first_;
  std::map<std::uint32_t, std::string> names_;
};

}  // namespace

std::vector<ProducerState> read_producers(const RegionPort& port, const RegionPlan& plan,
                                          std::uint64_t& ended) {
  ProducerReader reader(port, plan);
  std::vector<ProducerState> producers;
  for (LaneIndex lane = 0; lane < plan.layout.shape.max_lanes; ++lane) {
    const LanePlan lane_plan = read_lane_plan(port, plan.layout, lane);
    if (find_stream(lane_plan.stream) == nullptr) continue;
    const LaneWordsImage words = read_lane_words(port, plan.layout, lane);
    if (words.state == LaneState::kClosed)
      ++ended;
    else
      producers.push_back(reader.read(lane, lane_plan, words));
  }
  return producers;
}

HangState read_recording_state(const RegionPort& port, const RegionPlan& plan,
                               const std::vector<ClockSample>& anchors, std::uint64_t now_ns) {
  HangState state;
  state.producers = read_producers(port, plan, state.producers_ended);
  for (const ProducerState& producer : state.producers)
    if (producer.waits_for_page) state.waiting_lanes.push_back(producer.lane);
  state.ticks_per_second = plan.identity.ticks_per_second;
  state.launch_ticks = port.load(offsetof(RegionHeader, device.launch_ticks));
  state.detected_ticks = state.launch_ticks;
  if (anchors.empty() || now_ns < anchors.back().host_ns) return state;
  const ClockSample& anchor = anchors.back();
  const double since = static_cast<double>(now_ns - anchor.host_ns) *
                       static_cast<double>(state.ticks_per_second) / 1e9;
  if (since < 1e18) state.detected_ticks = anchor.device_ticks + static_cast<std::uint64_t>(since);
  return state;
}

}  // namespace tidemark
