// SPDX-License-Identifier: Apache-2.0
// The packets of a Perfetto trace: tracks, slices, instants, counters, flows, with names interned.
// Knows the format (field numbers of the published schema), nothing of what is traced.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tidemark/export/part_file.h"

namespace tidemark {

using TrackId = std::uint64_t;

// Beside a slice: a text or a number.
struct SliceNote {
  std::string_view key;
  std::string_view text = {};
  std::uint64_t number = 0;
};

// Flows that leave a slice, and flows that end at it.
struct SliceFlows {
  std::span<const std::uint64_t> out = {};
  std::span<const std::uint64_t> in = {};
};

class PerfettoWriter {
 public:
  explicit PerfettoWriter(PartFile& part) : part_(part) {}

  // One process holds all tracks; it comes first.
  void put_process(TrackId track, std::string_view name);
  void put_track(TrackId track, TrackId parent, std::string_view name, std::uint32_t rank);
  void put_counter_track(TrackId track, TrackId parent, std::string_view name,
                         std::string_view unit);

  void begin_slice(TrackId track, std::int64_t time_ns, std::string_view name,
                   std::span<const SliceNote> notes = {}, const SliceFlows& flows = {}) {
    put_event(Type::kSliceBegin, track, time_ns, name, notes, flows);
  }
  void end_slice(TrackId track, std::int64_t time_ns) {
    put_event(Type::kSliceEnd, track, time_ns);
  }
  void put_instant(TrackId track, std::int64_t time_ns, std::string_view name,
                   std::span<const SliceNote> notes = {}, const SliceFlows& flows = {}) {
    put_event(Type::kInstant, track, time_ns, name, notes, flows);
  }
  void put_counter(TrackId track, std::int64_t time_ns, std::int64_t value) {
    put_event(Type::kCounter, track, time_ns, {}, {}, {}, value);
  }

 private:
  template <class More>
  void put_described_track(TrackId track, TrackId parent, std::string_view name, const More& more);
  enum class Type : int { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
  void put_event(Type type, TrackId track, std::int64_t time_ns, std::string_view name = {},
                 std::span<const SliceNote> notes = {}, const SliceFlows& flows = {},
                 std::optional<std::int64_t> value = {});

  struct Interned {
    std::uint64_t id;
    bool fresh;
  };
  static Interned intern(std::map<std::string, std::uint64_t, std::less<>>& table,
                         std::string_view text);

  PartFile& part_;
  std::map<std::string, std::uint64_t, std::less<>> names_;
  std::map<std::string, std::uint64_t, std::less<>> note_keys_;
};

}  // namespace tidemark
