// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/description.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "tidemark/run/identity_json.h"
#include "tidemark/run/json.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

void put_fields(JsonWriter& json, std::string_view key, std::span<const Field> fields) {
  put_key(json, key);
  json.StartArray();
  for (const auto& field : fields) {
    json.StartObject();
    put(json, "name", std::string_view(field.name));
    put(json, "type", to_text(field.type));
    put(json, "offset", static_cast<std::uint32_t>(field.offset));
    json.EndObject();
  }
  json.EndArray();
}

void put_streams(JsonWriter& json) {
  put_key(json, "streams");
  json.StartArray();
  for (const auto& stream : kStreams) {
    json.StartObject();
    put(json, "id", static_cast<std::uint32_t>(stream.id));
    put(json, "name", stream.name);
    put(json, "record_bytes", stream.record_bytes);
    put_key(json, "kinds");
    json.StartArray();
    for (const auto& kind : stream.kinds) {
      json.StartObject();
      put(json, "name", std::string_view(kind.name));
      put_key(json, "when");
      json.StartObject();
      for (const auto& is : kind.when)
        if (is.field.name != nullptr) put(json, is.field.name, is.value);
      json.EndObject();
      put_fields(json, "fields", kind.fields);
      json.EndObject();
    }
    json.EndArray();
    if (!stream.trailer.empty()) put_fields(json, "trailer", stream.trailer);
    json.EndObject();
  }
  json.EndArray();
}

void put_lanes(JsonWriter& json, const std::vector<LanePlan>& lanes) {
  put_key(json, "lanes");
  json.StartArray();
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const LanePlan& lane = lanes[i];
    json.StartObject();
    put(json, "lane", static_cast<std::uint64_t>(i));
    put(json, "stream", static_cast<std::uint32_t>(lane.stream));
    put(json, "policy", static_cast<std::uint32_t>(lane.overflow));
    put(json, "record_bytes", lane.record_bytes);
    put(json, "unit", lane.unit);
    put(json, "producer", std::string_view(lane.producer));
    json.EndObject();
  }
  json.EndArray();
}

const char* level_key(const StreamInfo& stream) {
  return stream.id == StreamId::kSwimlane ? "swimlane_level" : stream.name.data();
}

void put_runtime(JsonWriter& json, const RuntimeConfig& config) {
  put_key(json, "task_runtime");
  json.StartObject();
  put(json, "clusters", config.cluster_count);
  put(json, "schedulers", config.scheduler_count);
  put(json, "tensormap_pool", config.tensormap_entries);
  put(json, "track_war", config.track_war);
  put(json, "build", static_cast<std::uint32_t>(config.build));
  for (const auto& stream : kStreams)
    if (stream.level_max > 0) put(json, level_key(stream), config.streams[stream.id]);
  put(json, "dump_level", static_cast<std::uint32_t>(config.dump.level));
  put_key(json, "rings");
  json.StartArray();
  for (const auto& ring : config.rings) {
    json.StartObject();
    put(json, "task_window", ring.task_window);
    put(json, "heap", ring.heap_bytes);
    put(json, "dep_pool", ring.dep_pool);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

constexpr std::uint32_t kClustersMax = 1u << 14;
constexpr std::uint32_t kSchedulersMax = 256;

// A file may say anything: what is out of range is as if nothing was said.
std::optional<RuntimeConfig> parse_runtime(const rapidjson::Value& document) {
  const auto* value = get_member(document, "task_runtime");
  if (value == nullptr || !value->IsObject()) return std::nullopt;
  RuntimeConfig config;
  const auto number = [&](const char* key) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(get_u64(*value, key), 1u << 30));
  };
  config.cluster_count = number("clusters");
  config.scheduler_count = number("schedulers");
  if (config.cluster_count == 0 || config.cluster_count > kClustersMax ||
      config.scheduler_count == 0 || config.scheduler_count > kSchedulersMax)
    return std::nullopt;
  config.tensormap_entries = number("tensormap_pool");
  config.track_war = number("track_war");
  config.build = static_cast<BuildKind>(std::min(number("build"), 2u));
  for (const auto& stream : kStreams)
    if (stream.level_max > 0)
      config.streams[stream.id] = std::min(number(level_key(stream)), stream.level_max);
  config.dump.level = static_cast<DumpLevel>(std::min(number("dump_level"), 4u));
  const auto* rings = get_member(*value, "rings");
  if (rings == nullptr || !rings->IsArray() || rings->Size() != kRingCount) return std::nullopt;
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    const auto& ring = (*rings)[i];
    config.rings[i] = {.task_window = static_cast<std::uint32_t>(get_u64(ring, "task_window")),
                       .dep_pool = static_cast<std::uint32_t>(get_u64(ring, "dep_pool")),
                       .heap_bytes = get_u64(ring, "heap")};
  }
  return config;
}

Expected<rapidjson::Document> parse(CaptureReader& reader, const IndexEntry& chunk) {
  const auto bytes = reader.read(chunk);
  if (!bytes) return tl::unexpected(bytes.error());
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(reinterpret_cast<const char*>(bytes->data()),
                                                 bytes->size());
  if (document.HasParseError() || !document.IsObject())
    return failure(ErrorKind::kDamage, "the chunk at {} is not a JSON object", chunk.file_offset);
  return document;
}

LanePlan parse_lane(const rapidjson::Value& value, std::uint32_t page_bytes) {
  LanePlan lane{};
  lane.reserved_first_page = kNoPageIndex;
  lane.stream = static_cast<StreamId>(get_u64(value, "stream"));
  lane.overflow = static_cast<Overflow>(get_u64(value, "policy"));
  const std::uint64_t record_bytes = get_u64(value, "record_bytes");
  const StreamInfo* stream = find_stream(lane.stream);
  const bool sane = stream != nullptr && record_bytes % kQuantumBytes == 0 &&
                    record_bytes < page_bytes && record_bytes >= stream->record_bytes &&
                    (record_bytes == 0) == (stream->record_bytes == 0);
  if (!sane) lane.stream = StreamId::kNone;
  lane.record_bytes = sane ? static_cast<std::uint32_t>(record_bytes) : 0;
  lane.unit = static_cast<std::uint32_t>(get_u64(value, "unit"));
  std::strncpy(lane.producer, get_text(value, "producer").c_str(), kProducerTextBytes - 1);
  return lane;
}

std::uint64_t get_decimal(const rapidjson::Value& object, const char* key) {
  return std::strtoull(get_text(object, key).c_str(), nullptr, 10);
}

}  // namespace

std::string describe_capture(const CaptureDescription& description) {
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  const RunReport& run = description.run;
  json.StartObject();
  put(json, "format", std::string_view("tidemark capture"));
  put(json, "format_minor", static_cast<std::uint32_t>(kFormatMinor));
  put_what_ran(json, run);
  put_place(json, run);
  put(json, "ticks_per_second", run.ticks_per_second);
  put(json, "page_bytes", description.page_bytes);
  put_key(json, "kernels");
  json.StartArray();
  for (const auto& kernel : description.kernels) put_text(json, kernel);
  json.EndArray();
  if (description.runtime) put_runtime(json, *description.runtime);
  put_streams(json);
  put_lanes(json, description.lanes);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

Expected<CaptureDescription> read_description(CaptureReader& reader) {
  const auto& chunks = reader.chunks();
  const auto found = std::find_if(chunks.begin(), chunks.end(), [](const IndexEntry& chunk) {
    return chunk.type == ChunkType::kDescription;
  });
  if (found == chunks.end() && reader.claimed_format() != 0)
    return failure(ErrorKind::kUsage,
                   "the capture says it is of format {}; this tidemark reads up to format {}",
                   reader.claimed_format(), kFormatMajor);
  if (found == chunks.end())
    return failure(ErrorKind::kDamage, "the capture's description is lost");
  const auto document = parse(reader, *found);
  if (!document) return tl::unexpected(document.error());
  CaptureDescription description;
  RunReport& run = description.run;
  run.run_id = reader.run_id();
  read_what_ran(*document, run);
  run.ticks_per_second = get_u64(*document, "ticks_per_second", 1);
  description.page_bytes = static_cast<std::uint32_t>(get_u64(*document, "page_bytes"));
  if (const auto* kernels = get_member(*document, "kernels");
      kernels != nullptr && kernels->IsArray())
    for (const auto& kernel : kernels->GetArray()) description.kernels.push_back(text_of(kernel));
  if (const auto* lanes = get_member(*document, "lanes"); lanes != nullptr && lanes->IsArray())
    for (const auto& lane : lanes->GetArray())
      description.lanes.push_back(parse_lane(lane, description.page_bytes));
  description.runtime = parse_runtime(*document);
  return description;
}

std::string describe_outcome(const RunReport& report) {
  rapidjson::StringBuffer buffer;
  JsonWriter json(buffer);
  json.StartObject();
  put_ending(json, report);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

std::optional<RunReport> read_outcome(CaptureReader& reader) {
  const IndexEntry* chunk = reader.last_of(ChunkType::kOutcome);
  if (chunk == nullptr) return std::nullopt;
  const auto document = parse(reader, *chunk);
  if (!document) return std::nullopt;
  RunReport report;
  read_ending(*document, report);
  return report;
}

std::string describe_clock(const RunClock& clock) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  put(json, "launch_ticks", fmt::format("{}", clock.launch_ticks));
  put(json, "finish_ticks", fmt::format("{}", clock.finish_ticks));
  put(json, "ticks_per_second", clock.ticks_per_second);
  put_anchors(json, clock.anchors);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

// The newest chunk knows the rate best; anchors add up.
RunClock read_clock(CaptureReader& reader) {
  RunClock clock;
  std::uint64_t newest = 0;
  for (const auto& chunk : reader.chunks()) {
    if (chunk.type != ChunkType::kClock) continue;
    const auto document = parse(reader, chunk);
    if (!document) continue;
    clock.launch_ticks = std::max(clock.launch_ticks, get_decimal(*document, "launch_ticks"));
    clock.finish_ticks = std::max(clock.finish_ticks, get_decimal(*document, "finish_ticks"));
    if (chunk.sequence >= newest) {
      newest = chunk.sequence;
      clock.ticks_per_second = get_u64(*document, "ticks_per_second", clock.ticks_per_second);
    }
    const auto* anchors = get_member(*document, "anchors");
    if (anchors == nullptr || !anchors->IsArray()) continue;
    for (const auto& anchor : anchors->GetArray())
      clock.anchors.push_back({.device_ticks = get_decimal(anchor, "device_ticks"),
                               .host_ns = get_decimal(anchor, "host_ns"),
                               .real_ns = get_decimal(anchor, "real_ns"),
                               .uncertainty_ns = get_u64(anchor, "uncertainty_ns")});
  }
  if (clock.ticks_per_second == 0) clock.ticks_per_second = 1'000'000'000;
  return clock;
}

std::string describe_names(const NameTexts& names) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  for (const auto& [hash, text] : names) put(json, fmt::format("{:016x}", hash), text);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

NameTexts read_names(CaptureReader& reader) {
  NameTexts names;
  for (const auto& chunk : reader.chunks()) {
    if (chunk.type != ChunkType::kNames) continue;
    const auto document = parse(reader, chunk);
    if (!document) continue;
    for (const auto& member : document->GetObject())
      if (member.value.IsString())
        names[std::strtoull(member.name.GetString(), nullptr, 16)] = text_of(member.value);
  }
  return names;
}

}  // namespace tidemark
