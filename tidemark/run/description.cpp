// SPDX-License-Identifier: Apache-2.0
#include "tidemark/run/description.h"

#include <algorithm>
#include <span>

#include "tidemark/ledger/page_check.h"
#include "tidemark/run/identity_json.h"
#include "tidemark/schema/stream_registry.h"

namespace tidemark {
namespace {

void put_fields(JsonWriter& json, std::string_view key, std::span<const Field> fields) {
  put_list(json, key, fields, [&](const Field& field) {
    put(json, "name", field.name);
    put(json, "type", to_text(field.type));
    put(json, "offset", field.offset);
  });
}

void put_streams(JsonWriter& json) {
  put_list(json, "streams", kStreams, [&](const StreamInfo& stream) {
    put(json, "id", static_cast<std::uint32_t>(stream.id));
    put(json, "name", stream.name);
    put(json, "record_bytes", stream.record_bytes);
    put_list(json, "kinds", stream.kinds, [&](const RecordKind& kind) {
      put(json, "name", kind.name);
      put_object(json, "when", [&] {
        for (const auto& is : kind.when)
          if (is.field.name != nullptr) put(json, is.field.name, is.value);
      });
      put_fields(json, "fields", kind.fields);
    });
    if (!stream.trailer.empty()) put_fields(json, "trailer", stream.trailer);
  });
}

constexpr std::uint32_t kClustersMax = 1u << 14;
constexpr std::uint32_t kSchedulersMax = 256;

const char* level_key(const StreamInfo& stream) {
  return stream.id == StreamId::kSwimlane ? "swimlane_level" : stream.name.data();
}

template <class V>
void plan_fields(V& v, auto& lane, std::uint64_t index) {
  v.writes("lane", index);
  v("stream", lane.stream);
  v("policy", lane.overflow);
  TM_FIELDS(v, lane, record_bytes, unit);
  std::string producer = lane.producer;
  v("producer", producer);
  if constexpr (V::kReads) producer.copy(lane.producer, kProducerTextBytes - 1);
}

Expected<rapidjson::Document> parse(CaptureReader& reader, const IndexEntry& chunk) {
  TM_TRY(const auto bytes, reader.read(chunk));
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(reinterpret_cast<const char*>(bytes.data()),
                                                 bytes.size());
  if (document.HasParseError() || !document.IsObject())
    return failure(ErrorKind::kDamage, "the chunk at {} is not a JSON object", chunk.file_offset);
  return document;
}

}  // namespace

static void fields(auto& v, Of<RingSizes> auto& ring) {
  v("task_window", ring.task_window);
  v("heap", ring.heap_bytes);
  v("dep_pool", ring.dep_pool);
}

static void fields(auto& v, Of<RuntimeConfig> auto& config) {
  v("clusters", config.cluster_count);
  v("schedulers", config.scheduler_count);
  v("tensormap_pool", config.tensormap_entries);
  TM_FIELDS(v, config, track_war, build, repeat);
  for (const auto& stream : kStreams)
    if (stream.level_max > 0) v(level_key(stream), config.streams[stream.id]);
  v("dump_level", config.dump.level);
  v("rings", config.rings);
}

template <class V>
static void fields(V& v, Of<CaptureDescription> auto& description) {
  v.writes("format", "tidemark capture");
  v.writes("format_minor", std::uint32_t{kFormatMinor});
  identity_fields(v, description.run);
  v("ticks_per_second", description.run.ticks_per_second);
  TM_FIELDS(v, description, page_bytes, kernels);
  if (description.runtime) v.writes("task_runtime", description.runtime);
  if constexpr (!V::kReads) put_streams(v.json());
  v.list("lanes", description.lanes, [&](auto& of, auto& lane, std::size_t i) {
    plan_fields(of, lane, i);
    if constexpr (V::kReads) {
      const std::uint32_t page_bytes = description.page_bytes;
      if (lane.record_bytes >= page_bytes || !is_known_lane(lane, page_bytes))
        lane.stream = StreamId::kNone,
        lane.record_bytes = 0;  // a lane that cannot be is not believed
      lane.reserved_first_page = kNoPageIndex;
    }
  });
}

static void fields(auto& v, Of<RunClock> auto& clock) {
  v.decimal("launch_ticks", clock.launch_ticks);
  v.decimal("finish_ticks", clock.finish_ticks);
  TM_FIELDS(v, clock, ticks_per_second, anchors);
}

// A file may say anything: out-of-range values count as absent.
static std::optional<RuntimeConfig> read_runtime(const rapidjson::Value& value) {
  const rapidjson::Value& rings = member_of(value, "rings");
  if (!rings.IsArray() || rings.Size() != kRingCount) return std::nullopt;
  RuntimeConfig config;
  FieldReader::read(value, config);
  if (config.cluster_count == 0 || config.cluster_count > kClustersMax ||
      config.scheduler_count == 0 || config.scheduler_count > kSchedulersMax)
    return std::nullopt;
  for (const auto& stream : kStreams)
    config.streams[stream.id] = std::min(config.streams[stream.id], stream.level_max);
  config.build = std::min(config.build, BuildKind::kHostBuild);
  config.repeat = config.reclaims() ? 1 : std::clamp(config.repeat, 1u, kRepeatMax);
  config.dump.level = std::min(config.dump.level, DumpLevel::kStats);
  return config;
}

std::string describe_capture(const CaptureDescription& description) {
  return json_text<JsonWriter>(description);
}

Expected<CaptureDescription> read_description(CaptureReader& reader) {
  const auto& chunks = reader.chunks();
  const auto found = std::ranges::find(chunks, ChunkType::kDescription, &IndexEntry::type);
  if (found == chunks.end() && reader.claimed_format() != 0)
    return failure(ErrorKind::kUsage,
                   "the capture says it is of format {}; this tidemark reads up to format {}",
                   reader.claimed_format(), kFormatMajor);
  if (found == chunks.end())
    return failure(ErrorKind::kDamage, "the capture's description is lost");
  TM_TRY(const auto document, parse(reader, *found));
  CaptureDescription description;
  FieldReader::read(document, description);
  RunReport& run = description.run;
  run.run_id = reader.run_id();
  run.ticks_per_second = std::max<std::uint64_t>(run.ticks_per_second, 1);
  description.runtime = read_runtime(member_of(document, "task_runtime"));
  return description;
}

std::string describe_outcome(const RunReport& report) {
  return json_text<JsonWriter>([&](JsonWriter& json) {
    FieldWriter v(json);
    ending_fields(v, report);
  });
}

std::optional<RunReport> read_outcome(CaptureReader& reader) {
  const IndexEntry* chunk = reader.last_of(ChunkType::kOutcome);
  if (chunk == nullptr) return std::nullopt;
  const auto document = parse(reader, *chunk);
  if (!document) return std::nullopt;
  RunReport report;
  FieldReader v(*document);
  ending_fields(v, report);
  return report;
}

std::string describe_clock(const RunClock& clock) { return json_text(clock); }

// The newest chunk knows the rate best; anchors add up.
RunClock read_clock(CaptureReader& reader) {
  RunClock clock;
  std::uint64_t newest = 0;
  for (const auto& chunk : reader.chunks()) {
    if (chunk.type != ChunkType::kClock) continue;
    const auto document = parse(reader, chunk);
    if (!document) continue;
    RunClock news;
    FieldReader::read(*document, news);
    clock.launch_ticks = std::max(clock.launch_ticks, news.launch_ticks);
    clock.finish_ticks = std::max(clock.finish_ticks, news.finish_ticks);
    if (chunk.sequence >= newest) {
      newest = chunk.sequence;
      if (news.ticks_per_second != 0) clock.ticks_per_second = news.ticks_per_second;
    }
    clock.anchors.insert(clock.anchors.end(), news.anchors.begin(), news.anchors.end());
  }
  if (clock.ticks_per_second == 0) clock.ticks_per_second = 1'000'000'000;
  return clock;
}

std::string describe_names(const NameTexts& names) {
  return json_text([&](auto& json) {
    for (const auto& [hash, text] : names) put(json, run_id_text(hash), text);
  });
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
