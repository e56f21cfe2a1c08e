// SPDX-License-Identifier: Apache-2.0
// The orchestrator's side of the recorder: scopes with their peaks, the graph as it is built, the
// envelope of every submit, and marks of the program. A stream that is off costs one branch; what
// is written where it is on is apart, so that a GPU does not fetch it.
#pragma once

#include <cstdint>

#include "tidemark/record/event_recorder.h"
#include "tidemark/runtime/graph/graph_watch.h"
#include "tidemark/runtime/graph/scope_peaks.h"
#include "tidemark/runtime/units/unit_recorder.h"
#include "tidemark/schema/graph_record.h"
#include "tidemark/schema/phase_span.h"

namespace tidemark {

// The hash of a source file's name, put into the name table when it is seen first.
class SiteNames {
 public:
  TM_DEVICE std::uint64_t hash_of(const RegionView& region, const char* file) {
    if (file == last_file_) return last_hash_;
    std::uint32_t length = 0;
    while (file[length] != 0) ++length;
    last_file_ = file;
    last_hash_ = hash_name(file, length);
    region.names().intern(last_hash_, file, length);
    return last_hash_;
  }

 private:
  const char* last_file_ = nullptr;
  std::uint64_t last_hash_ = 0;
};

template <DeviceEnv Env>
class RecordingWatch : public NoWatch {
 public:
  // Without a region nothing is recorded. The region must stay.
  TM_DEVICE TM_NOINLINE RecordingWatch(const RegionView* region, const RuntimeConfig& config)
      : region_(region),
        scopes_(recorder_of<ScopeRecorder>(region, config.lanes().scopes())),
        graph_(recorder_of<GraphRecorder>(region, config.lanes().edges())),
        submits_(recorder_of<SubmitRecorder>(region, config.lanes().submits())),
        events_(recorder_of<EventRecorder<Env>>(region, config.lanes().orchestrator_events())) {}
  TM_DEVICE ~RecordingWatch() { ended(); }
  // Not only at the end of its life: the device may never come to that.
  TM_DEVICE TM_NOINLINE void ended() {
    scopes_.close();
    graph_.close();
    submits_.close();
    events_.close();
  }
  RecordingWatch(const RecordingWatch&) = delete;
  RecordingWatch& operator=(const RecordingWatch&) = delete;

  TM_DEVICE EventRecorder<Env>& recorder() { return events_; }
  TM_DEVICE void tell_waits_to(RecorderCosts* costs) {
    scopes_.tell_waits_to(costs);
    graph_.tell_waits_to(costs);
    submits_.tell_waits_to(costs);
    events_.tell_waits_to(costs);
  }

  template <class Rings>
  TM_DEVICE void scope_opened(const ScopeStack& scopes, Rings& rings) {
    if (scopes_.enabled()) write_begin(scopes, rings);
  }
  template <class Rings>
  TM_DEVICE void scope_closes(const ScopeStack& scopes, Rings& rings) {
    if (scopes_.enabled()) write_end(scopes, rings);
  }
  TM_DEVICE void took(Resource resource, std::uint32_t ring, std::uint64_t used,
                      std::uint64_t taken = 1) {
    if (scopes_.enabled()) note_taken(resource, ring, used, taken);
  }

  TM_DEVICE void edge(const GraphEdge& edge) {
    if (graph_.enabled()) write_edge(edge);
  }
  TM_DEVICE void described(const RuntimeMemory& memory, const TaskSlot& slot,
                           const TaskPlan& task) {
    if (graph_.enabled()) write_task(memory, slot, task);
  }
  TM_DEVICE void writers_evicted() { writers_evicted_ = 1; }
  TM_DEVICE void informed(const RuntimeMemory& memory, const TaskSlot& slot) {
    if (!graph_.enabled()) return;
    write_tensors(slot.id.value, memory.template at<StoredTensor>(slot.info_offset),
                  slot.info_count);
  }

  TM_DEVICE void submit_begins() {
    if (submits_.enabled()) submit_begin_ticks_ = Env::now_ticks();
  }
  template <class Rings>
  TM_DEVICE void submit_ends(TaskId task, Rings& rings) {
    if (submits_.enabled()) write_submit(task, rings);
  }

 private:
  // What is written where a stream is on.
  template <class Rings>
  TM_DEVICE TM_NOINLINE_ON_GPU void write_begin(const ScopeStack& scopes, Rings& rings) {
    ScopeBoundary begin = boundary(scopes, rings, ScopeBoundary::Phase::kBegin);
    begin.peaks = occupancy_of(rings);
    peaks_.open(begin.peaks);
    scopes_.write(begin);
  }
  template <class Rings>
  TM_DEVICE TM_NOINLINE_ON_GPU void write_end(const ScopeStack& scopes, Rings& rings) {
    ScopeBoundary end = boundary(scopes, rings, ScopeBoundary::Phase::kEnd);
    end.peaks = peaks_.close();
    scopes_.write(end);
  }
  TM_DEVICE TM_NOINLINE_ON_GPU void note_taken(Resource resource, std::uint32_t ring,
                                               std::uint64_t used, std::uint64_t taken) {
    peaks_.took(resource, ring, used, taken);
  }
  // By value: where nothing is written, the edge is in registers.
  TM_DEVICE TM_NOINLINE_ON_GPU void write_edge(GraphEdge edge) {
    write(GraphEdgeRecord{.producer = edge.producer.value,
                          .consumer = edge.consumer.value,
                          .arg = static_cast<std::uint16_t>(edge.arg),
                          .producer_arg = static_cast<std::uint16_t>(edge.producer_arg),
                          .source = edge.source,
                          .overlap = edge.overlap,
                          .satisfied = edge.satisfied});
  }
  TM_DEVICE TM_NOINLINE_ON_GPU void write_task(const RuntimeMemory& memory, const TaskSlot& slot,
                                               const TaskPlan& task) {
    write(GraphTask{.task_id = slot.id.value,
                    .time_ticks = Env::now_ticks(),
                    .block_count = slot.block_count,
                    .submit_line = task.site.line,
                    .kernels = {slot.kernels[0], slot.kernels[1], slot.kernels[2]},
                    .submit_file = names_.hash_of(*region_, task.site.file),
                    .shape = slot.shape,
                    .tensor_count = static_cast<std::uint8_t>(slot.tensor_count),
                    .scalar_count = static_cast<std::uint8_t>(slot.scalar_count),
                    .at_once = task.complete_at_once,
                    .writers_evicted = writers_evicted_});
    write_tensors(slot.id.value, memory.tensors(slot), slot.tensor_count);
  }
  template <class Rings>
  TM_DEVICE TM_NOINLINE_ON_GPU void write_submit(TaskId task, Rings& rings) {
    const auto& ring = rings.ring(task.ring());
    submits_.write({.task_id = task.value,
                    .begin_ticks = submit_begin_ticks_,
                    .end_ticks = Env::now_ticks(),
                    .index = submit_index_++,
                    .heap_bytes = ring.heap.used_bytes(),
                    .live_tasks = static_cast<std::uint32_t>(ring.window.live_count())});
  }

  using ScopeRecorder = Recorder<ScopeBoundary, Env>;
  using SubmitRecorder = Recorder<SubmitSpan, Env>;
  // A record of the graph of any kind: they have one size.
  struct AnyGraphRecord {
    static constexpr StreamId kStream = StreamId::kEdges;
    static constexpr std::uint32_t kBytes = GraphEdgeRecord::kBytes;
    std::uint64_t packed[kBytes / 8];
    TM_DEVICE TM_INLINE void pack(std::uint64_t* words) const {
      for (std::uint32_t i = 0; i < kBytes / 8; ++i) words[i] = packed[i];
    }
  };
  using GraphRecorder = Recorder<AnyGraphRecord, Env>;

  template <class R>
  TM_DEVICE void write(const R& record) {
    static_assert(R::kBytes == AnyGraphRecord::kBytes);
    AnyGraphRecord any;
    record.pack(any.packed);
    graph_.write(any);
  }

  TM_DEVICE TM_NOINLINE_ON_GPU void write_tensors(std::uint64_t task_id,
                                                  const StoredTensor* tensors,
                                                  std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const TensorView& view = tensors[i].view;
      write(GraphArgument{.task_id = task_id,
                          .start_offset = view.offset,
                          .buffer = view.buffer,
                          .owner = tensors[i].owner,
                          .index = static_cast<std::uint8_t>(i),
                          .access = tensors[i].access,
                          .dtype = view.dtype,
                          .rank = static_cast<std::uint8_t>(view.shape.rank),
                          .output_index = tensors[i].output_index});
      write_dimensions(task_id, view);
    }
  }
  TM_DEVICE void write_dimensions(std::uint64_t task_id, const TensorView& view) {
    for (std::uint32_t dim = 0; dim < view.shape.rank;) {
      GraphDimensions record{.task_id = task_id, .first = static_cast<std::uint8_t>(dim)};
      record.extent[0] = view.shape.extent[dim];
      record.stride[0] = view.stride[dim];
      if (dim + 1 < view.shape.rank &&
          GraphDimensions::fits_two(view.shape.extent[dim] | view.shape.extent[dim + 1],
                                    view.stride[dim] | view.stride[dim + 1])) {
        record.count = 2;
        record.extent[1] = view.shape.extent[dim + 1];
        record.stride[1] = view.stride[dim + 1];
      }
      dim += record.count;
      write(record);
    }
  }

  template <class Rings>
  TM_DEVICE ScopeBoundary boundary(const ScopeStack& scopes, Rings& rings,
                                   ScopeBoundary::Phase phase) {
    const Site site = scopes.site();
    ScopeBoundary made;
    made.file = names_.hash_of(*region_, site.file);
    made.time_ticks = Env::now_ticks();
    made.line = site.line;
    made.serial = scopes.mark().serial;
    made.depth = static_cast<std::uint16_t>(scopes.depth());
    made.ring = static_cast<std::uint8_t>(scopes.ring());
    made.phase = phase;
    made.map_entries = rings.map().live_count();
    made.marks = marks_of(rings, scopes.ring());
    return made;
  }

  const RegionView* region_;
  ScopeRecorder scopes_;
  GraphRecorder graph_;
  SubmitRecorder submits_;
  EventRecorder<Env> events_;
  PeakStack peaks_;
  SiteNames names_;
  std::uint64_t submit_begin_ticks_ = 0;
  std::uint64_t submit_index_ = 0;
  std::uint8_t writers_evicted_ = 0;
};

}  // namespace tidemark
