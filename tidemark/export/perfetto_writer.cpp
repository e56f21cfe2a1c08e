// SPDX-License-Identifier: Apache-2.0
#include "tidemark/export/perfetto_writer.h"

#include <array>

#include <protozero/pbf_writer.hpp>

namespace tidemark {
namespace {

// Field numbers of perfetto.protos, by message.
namespace trace {
constexpr int kPacket = 1;
}
namespace packet {
constexpr int kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kInternedData = 12,
              kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace track {
constexpr int kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8, kOrdering = 11,
              kRank = 12;
constexpr int kOrderExplicit = 3;
}  // namespace track
namespace process {
constexpr int kPid = 1, kName = 6;
}
namespace counter {
constexpr int kUnitName = 6;
}
namespace event {
constexpr int kNotes = 4, kType = 9, kNameId = 10, kTrack = 11, kCounterValue = 30, kFlows = 47,
              kEndingFlows = 48;
}
namespace interned {
constexpr int kEventNames = 2, kNoteNames = 3;
constexpr int kId = 1, kName = 2;
}  // namespace interned
namespace note {
constexpr int kNameId = 1, kNumber = 3, kText = 6;
}

constexpr std::uint32_t kSequence = 1;  // one writer of packets
constexpr int kPid = 1;

void put_interned(protozero::pbf_writer& data, int field, std::uint64_t id, std::string_view text) {
  protozero::pbf_writer entry(data, static_cast<protozero::pbf_tag_type>(field));
  entry.add_uint64(interned::kId, id);
  entry.add_string(interned::kName, text.data(), text.size());
}

}  // namespace

PerfettoWriter::Interned PerfettoWriter::intern(
    std::map<std::string, std::uint64_t, std::less<>>& table, std::string_view text) {
  const auto found = table.find(text);
  if (found != table.end()) return {found->second, false};
  const std::uint64_t id = table.size() + 1;
  table.emplace(text, id);
  return {id, true};
}

void PerfettoWriter::put_process(TrackId uuid, std::string_view name) {
  protozero::pbf_writer trace(part_.text());
  protozero::pbf_writer packet(trace, trace::kPacket);
  packet.add_uint32(packet::kSequenceId, kSequence);
  packet.add_uint32(packet::kSequenceFlags, packet::kStateCleared);
  protozero::pbf_writer descriptor(packet, packet::kTrackDescriptor);
  descriptor.add_uint64(track::kUuid, uuid);
  descriptor.add_enum(track::kOrdering, track::kOrderExplicit);
  protozero::pbf_writer described(descriptor, track::kProcess);
  described.add_int32(process::kPid, kPid);
  described.add_string(process::kName, name.data(), name.size());
}

// `more` puts what this kind of track has besides.
template <class More>
void PerfettoWriter::put_described_track(TrackId uuid, TrackId parent, std::string_view name,
                                         const More& more) {
  protozero::pbf_writer trace(part_.text());
  protozero::pbf_writer packet(trace, trace::kPacket);
  packet.add_uint32(packet::kSequenceId, kSequence);
  protozero::pbf_writer descriptor(packet, packet::kTrackDescriptor);
  descriptor.add_uint64(track::kUuid, uuid);
  descriptor.add_string(track::kName, name.data(), name.size());
  descriptor.add_uint64(track::kParent, parent);
  more(descriptor);
}

void PerfettoWriter::put_track(TrackId uuid, TrackId parent, std::string_view name,
                               std::uint32_t rank) {
  put_described_track(uuid, parent, name, [&](protozero::pbf_writer& descriptor) {
    descriptor.add_int32(track::kRank, static_cast<std::int32_t>(rank));
  });
}

void PerfettoWriter::put_counter_track(TrackId uuid, TrackId parent, std::string_view name,
                                       std::string_view unit) {
  put_described_track(uuid, parent, name, [&](protozero::pbf_writer& descriptor) {
    protozero::pbf_writer described(descriptor, track::kCounter);
    described.add_string(counter::kUnitName, unit.data(), unit.size());
  });
}

void PerfettoWriter::put_event(Type type, TrackId uuid, std::int64_t time_ns, std::string_view name,
                               std::span<const SliceNote> notes, const SliceFlows& flows,
                               std::optional<std::int64_t> value) {
  part_.flush_if_full();
  std::array<Interned, 8> keys{};
  const Interned name_id = name.empty() ? Interned{0, false} : intern(names_, name);
  bool fresh = name_id.fresh;
  for (std::size_t i = 0; i < notes.size() && i < keys.size(); ++i) {
    keys[i] = intern(note_keys_, notes[i].key);
    fresh = fresh || keys[i].fresh;
  }
  protozero::pbf_writer trace(part_.text());
  protozero::pbf_writer packet(trace, trace::kPacket);
  packet.add_uint64(packet::kTimestamp, static_cast<std::uint64_t>(time_ns));
  packet.add_uint32(packet::kSequenceId, kSequence);
  packet.add_uint32(packet::kSequenceFlags, packet::kNeedsState);
  if (fresh) {
    protozero::pbf_writer data(packet, packet::kInternedData);
    if (name_id.fresh) put_interned(data, interned::kEventNames, name_id.id, name);
    for (std::size_t i = 0; i < notes.size() && i < keys.size(); ++i)
      if (keys[i].fresh) put_interned(data, interned::kNoteNames, keys[i].id, notes[i].key);
  }
  protozero::pbf_writer event(packet, packet::kTrackEvent);
  event.add_enum(event::kType, static_cast<int>(type));
  event.add_uint64(event::kTrack, uuid);
  if (name_id.id != 0) event.add_uint64(event::kNameId, name_id.id);
  for (std::size_t i = 0; i < notes.size() && i < keys.size(); ++i) {
    protozero::pbf_writer annotation(event, event::kNotes);
    annotation.add_uint64(note::kNameId, keys[i].id);
    if (notes[i].text.empty())
      annotation.add_uint64(note::kNumber, notes[i].number);
    else
      annotation.add_string(note::kText, notes[i].text.data(), notes[i].text.size());
  }
  for (const std::uint64_t flow : flows.out) event.add_fixed64(event::kFlows, flow);
  for (const std::uint64_t flow : flows.in) event.add_fixed64(event::kEndingFlows, flow);
  if (value) event.add_int64(event::kCounterValue, *value);
}

}  // namespace tidemark
