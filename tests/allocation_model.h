// SPDX-License-Identifier: Apache-2.0
// Test support: counts what the rings hold a second time, from the events of a run alone: what was
// taken, which task was submitted, which was given back, which scope opened and closed. Nothing of
// the runtime's own counters is used. Beside a recording watch it says what must be recorded.
#pragma once

#include <map>
#include <vector>

#include "tidemark/runtime/graph/graph_watch.h"
#include "tidemark/schema/scope_boundary.h"

namespace tidemark {

class AllocationModel {
 public:
  explicit AllocationModel(const RuntimeConfig& config) : config_(config) {}

  void took(Resource resource, std::uint32_t ring, std::uint64_t bytes) {
    Ring& state = rings_[ring];
    switch (resource) {
      case Resource::kTaskWindow:
        ++state.task_head;
        raise(&ScopePeaks::tasks, ring, state.task_head - state.task_tail);
        break;
      case Resource::kHeap:
        take_bytes(state.heap_head, state.heap_tail, config_.rings[ring].heap_bytes, 1024, bytes);
        raise(&ScopePeaks::heap_bytes, ring, state.heap_head - state.heap_tail);
        if (!peaks_.empty())
          peaks_.back().heap_request[ring] = std::max(peaks_.back().heap_request[ring], bytes);
        break;
      case Resource::kDepPool:
        ++state.dep_head;
        raise(&ScopePeaks::deps, ring, state.dep_head - state.dep_tail);
        break;
      case Resource::kFanin:
        ++state.fanin_head;
        raise(&ScopePeaks::fanin, ring, state.fanin_head - state.fanin_tail);
        break;
      case Resource::kArguments:
        take_bytes(state.args_head, state.args_tail, args_bytes_of(config_.rings[ring]), 64, bytes);
        raise(&ScopePeaks::args_bytes, ring, state.args_head - state.args_tail);
        break;
      default:
        break;  // the map is counted in submitted(): its entries depend on views
    }
  }

  void submitted(const RuntimeMemory& memory, const TaskSlot& slot, bool automatic) {
    const Ring& state = rings_[slot.id.ring()];
    marks_[slot.id.value] = {state.heap_head, state.dep_head, state.fanin_head, state.args_head};
    const StoredTensor* tensors = memory.tensors(slot);
    for (std::uint32_t i = 0; i < slot.tensor_count; ++i) {
      const auto access = tensors[i].access;
      if (access == Access::kOutput)
        owned_[slot.id.value].push_back(tensors[i].view.buffer);
      else if (automatic)
        note_entry(slot, tensors[i].view, access);
    }
  }

  // Its slot, its memory, its entries.
  void reclaimed(const TaskSlot& slot) {
    Ring& state = rings_[slot.id.ring()];
    const Marks marks = marks_.at(slot.id.value);
    ++state.task_tail;
    state.heap_tail = std::max(state.heap_tail, marks.heap);
    state.dep_tail = marks.dep;
    state.fanin_tail = marks.fanin;
    state.args_tail = marks.args;
    std::erase_if(entries_, [&](const Entry& entry) {
      for (const std::uint64_t buffer : owned_[slot.id.value])
        if (entry.view.buffer == buffer) return true;
      return false;
    });
    for (Entry& entry : entries_)
      if (entry.task == slot.id.value) entry.live = false;
  }

  void scope_opened(std::uint32_t ring) {
    peaks_.push_back(occupancy());
    boundaries.push_back(boundary(ScopeBoundary::Phase::kBegin, ring, peaks_.back()));
  }
  void scope_closes(std::uint32_t ring) {
    const ScopePeaks ended = peaks_.back();
    boundaries.push_back(boundary(ScopeBoundary::Phase::kEnd, ring, ended));
    peaks_.pop_back();
    if (peaks_.empty()) return;
    ScopePeaks& outer = peaks_.back();
    for (std::uint32_t i = 0; i < kRingCount; ++i) {
      outer.tasks[i] = std::max(outer.tasks[i], ended.tasks[i]);
      outer.heap_bytes[i] = std::max(outer.heap_bytes[i], ended.heap_bytes[i]);
      outer.deps[i] = std::max(outer.deps[i], ended.deps[i]);
      outer.fanin[i] = std::max(outer.fanin[i], ended.fanin[i]);
      outer.heap_request[i] = std::max(outer.heap_request[i], ended.heap_request[i]);
      outer.args_bytes[i] = std::max(outer.args_bytes[i], ended.args_bytes[i]);
    }
    outer.map_entries = std::max(outer.map_entries, ended.map_entries);
  }

  std::vector<ScopeBoundary> boundaries;  // without time, site and depth

 private:
  struct Ring {
    std::uint64_t task_head = 0, task_tail = 0, heap_head = 0, heap_tail = 0, dep_head = 0,
                  dep_tail = 0, fanin_head = 0, fanin_tail = 0, args_head = 0, args_tail = 0;
  };
  struct Marks {
    std::uint64_t heap, dep, fanin, args;
  };
  struct Entry {
    std::uint64_t task;
    TensorView view;
    bool reads;
    bool live;
  };

  template <class Field>
  void raise(Field field, std::uint32_t ring, std::uint64_t used) {
    if (peaks_.empty()) return;
    auto& peak = (peaks_.back().*field)[ring];
    peak = std::max<std::remove_reference_t<decltype(peak)>>(
        peak, static_cast<std::remove_reference_t<decltype(peak)>>(used));
  }

  // Never over the end of the ring, in whole units; an empty ring starts a new lap.
  static void take_bytes(std::uint64_t& head, std::uint64_t& tail, std::uint64_t ring_bytes,
                         std::uint64_t unit, std::uint64_t bytes) {
    const std::uint64_t capacity = ring_bytes / unit * unit;
    const std::uint64_t wanted = std::max<std::uint64_t>(1, (bytes + unit - 1) / unit) * unit;
    if (head == tail && head % capacity != 0) head = tail = (head / capacity + 1) * capacity;
    const std::uint64_t left = capacity - head % capacity;
    head += wanted > left ? left + wanted : wanted;
  }

  // A writer's entry takes the place of those it covers.
  void note_entry(const TaskSlot& slot, const TensorView& view, Access access) {
    const bool writes = access == Access::kInout || access == Access::kOutputExisting;
    const bool tracks = config_.track_war != 0;
    if (!writes && !(tracks && access == Access::kInput)) return;
    if (writes)
      std::erase_if(entries_, [&](const Entry& entry) {
        const bool own = entry.live && entry.task == slot.id.value;
        return entry.view.buffer == view.buffer && !own && (!entry.reads || tracks) &&
               overlap_of(entry.view, view) == ViewOverlap::kCovered;
      });
    entries_.push_back({slot.id.value, view, !writes, true});
    if (!peaks_.empty())
      peaks_.back().map_entries = std::max(peaks_.back().map_entries, live_entries());
  }
  [[nodiscard]] std::uint32_t live_entries() const {
    std::uint32_t live = 0;
    for (const Entry& entry : entries_) live += entry.live ? 1 : 0;
    return live;
  }

  [[nodiscard]] ScopePeaks occupancy() const {
    ScopePeaks now;
    for (std::uint32_t i = 0; i < kRingCount; ++i) {
      const Ring& ring = rings_[i];
      now.tasks[i] = static_cast<std::uint32_t>(ring.task_head - ring.task_tail);
      now.heap_bytes[i] = ring.heap_head - ring.heap_tail;
      now.deps[i] = static_cast<std::uint32_t>(ring.dep_head - ring.dep_tail);
      now.fanin[i] = static_cast<std::uint32_t>(ring.fanin_head - ring.fanin_tail);
      now.args_bytes[i] = ring.args_head - ring.args_tail;
    }
    now.map_entries = live_entries();
    return now;
  }
  [[nodiscard]] ScopeBoundary boundary(ScopeBoundary::Phase phase, std::uint32_t index,
                                       const ScopePeaks& peaks) const {
    const Ring& ring = rings_[index];
    ScopeBoundary made;
    made.phase = phase;
    made.ring = static_cast<std::uint8_t>(index);
    made.map_entries = live_entries();
    made.marks = {.task_tail = ring.task_tail,
                  .task_head = ring.task_head,
                  .heap_tail = ring.heap_tail,
                  .heap_head = ring.heap_head,
                  .dep_tail = ring.dep_tail,
                  .dep_head = ring.dep_head,
                  .fanin_tail = ring.fanin_tail,
                  .fanin_head = ring.fanin_head};
    made.peaks = peaks;
    return made;
  }

  RuntimeConfig config_;
  Ring rings_[kRingCount];
  std::map<std::uint64_t, Marks> marks_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> owned_;  // buffers by task
  std::vector<Entry> entries_;
  std::vector<ScopePeaks> peaks_;
};

}  // namespace tidemark
