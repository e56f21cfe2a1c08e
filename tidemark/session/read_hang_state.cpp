// SPDX-License-Identifier: Apache-2.0
#include "tidemark/session/read_hang_state.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "tidemark/runtime/dump/dump_source.h"
#include "tidemark/runtime/runtime_layout.h"
#include "tidemark/runtime/tensor/tensor_stats.h"
#include "tidemark/runtime/tensor/view_bounds.h"
#include "tidemark/session/host_watchdog.h"
#include "tidemark/session/read_view.h"
#include "tidemark/session/status_image.h"

namespace tidemark {
namespace {

constexpr std::size_t kTasksMax = 50'000;
constexpr std::size_t kWaitersMax = 4'096;  // of one task
constexpr std::uint64_t kScanBytesMax = 1ull << 30;

// Slots of the device's memory by their numbers; they are only looked at.
class SlotReader {
 public:
  SlotReader(const DeviceMemory& memory, const RuntimeLayout& layout)
      : memory_(memory), layout_(layout) {
    for (const RingSizes& ring : layout.config.rings) links_left_ += ring.dep_pool;
  }

  bool read(std::uint32_t ring, std::uint64_t number, TaskSlot& slot) const {
    const std::uint64_t place = number & (layout_.config.rings[ring].task_window - 1);
    return get(layout_.rings[ring].slots_offset + place * sizeof(TaskSlot), &slot, sizeof(slot));
  }
  // The task of a reference that came out of the memory; nothing: it points nowhere.
  [[nodiscard]] std::optional<std::uint64_t> task_at(std::uint32_t reference) const {
    const SlotRef ref{reference};
    if (ref.place() >= layout_.config.rings[ref.ring()].task_window) return std::nullopt;
    std::uint64_t id = 0;
    const std::uint64_t slot =
        layout_.rings[ref.ring()].slots_offset + ref.place() * sizeof(TaskSlot);
    if (!get(slot + offsetof(TaskSlot, id), &id, sizeof(id))) return std::nullopt;
    return id;
  }
  // Who waits for a task. A list that is changing, or that was damaged, is left where it breaks.
  // An entry is in one list at most: lists that lead into each other end with the last entry.
  [[nodiscard]] std::vector<std::uint64_t> waiters_of(const TaskSlot& slot) {
    std::vector<std::uint64_t> waiters;
    std::uint32_t link = slot.waiters.load_relaxed();
    while (link != kNoEntry && link != kListClosed && waiters.size() < kWaitersMax &&
           links_left_ > 0) {
      --links_left_;
      const SlotRef place{link};
      if (place.place() >= layout_.config.rings[place.ring()].dep_pool) break;
      DepEntry entry{};
      if (!get(layout_.rings[place.ring()].deps_offset + place.place() * sizeof(DepEntry), &entry,
               sizeof(entry)))
        break;
      const auto task = task_at(entry.consumer & ~SlotRef::kRetainsBit);
      if (!task) break;
      waiters.push_back(*task);
      link = entry.next;
    }
    std::sort(waiters.begin(), waiters.end());
    waiters.erase(std::unique(waiters.begin(), waiters.end()), waiters.end());
    return waiters;
  }
  bool get(std::uint64_t offset, void* to, std::size_t bytes) const {
    if (bytes > memory_.bytes() || offset > memory_.bytes() - bytes) return false;
    return memory_.read(offset, {static_cast<std::byte*>(to), bytes}).has_value();
  }

 private:
  const DeviceMemory& memory_;
  const RuntimeLayout& layout_;
  std::uint64_t links_left_ = 0;
};

std::string site_of(const StatusImage& status, const TaskSlot& slot) {
  if (slot.submit_file >= kSiteFilesMax) return {};
  const std::string file = status_text(status.site_files[slot.submit_file]);
  return file.empty() ? file : fmt::format("{}:{}", file, slot.submit_line);
}

void read_tasks(SlotReader& slots, const StatusImage& status, const RuntimeConfig& config,
                HangState& state) {
  for (std::uint32_t ring = 0; ring < kRingCount; ++ring) {
    const RingState& at = state.rings[ring];
    const std::uint64_t live =
        at.head > at.tail
            ? std::min<std::uint64_t>(at.head - at.tail, config.rings[ring].task_window)
            : 0;
    for (std::uint64_t i = 0; i < live; ++i) {
      TaskSlot slot;
      if (!slots.read(ring, at.head - live + i, slot)) return;
      if (slot.state.load_relaxed() == TaskState::kCompleted) continue;
      // Ready for the next iteration: complete in this one.
      if (config.repeats() && slot.id.lap() > status.iterations) continue;
      if (slot.id.ring() != ring) continue;  // not filled yet, or damaged
      if (state.tasks.size() == kTasksMax) {
        state.tasks_cut = true;
        return;
      }
      StuckTask& task = state.tasks.emplace_back();
      task.id = slot.id.value;
      std::copy(std::begin(slot.kernels), std::end(slot.kernels), std::begin(task.kernels));
      task.site = site_of(status, slot);
      task.pending = slot.pending.load_relaxed();
      task.parts_left = slot.parts_left.load_relaxed();
      task.block_count = slot.block_count;
      task.waiters = slots.waiters_of(slot);
    }
  }
}

// Statistics of pieces of any size; TensorStats takes whole words.
class StatsOfPieces {
 public:
  explicit StatsOfPieces(DType dtype) : stats_(dtype) {}

  void add(std::span<const unsigned char> piece) {
    pending_.insert(pending_.end(), piece.begin(), piece.end());
    const auto whole = static_cast<std::ptrdiff_t>(pending_.size() / 8 * 8);
    stats_.add(pending_.data(), static_cast<std::uint64_t>(whole));
    pending_.erase(pending_.begin(), pending_.begin() + whole);
  }
  DumpStats finish() {
    stats_.add(pending_.data(), pending_.size());
    return stats_.result();
  }

 private:
  TensorStats stats_;
  std::vector<unsigned char> pending_;
};

// Nothing if the memory cannot be read.
std::optional<std::vector<unsigned char>> make_frame(DumpHeader& header, const StoredTensor& tensor,
                                                     const DeviceMemory& memory,
                                                     std::uint64_t limit) {
  const TensorView& view = tensor.view;
  describe_tensor(header, tensor);
  header.stage = DumpStage::kAtHang;
  header.payload_bytes = header.logical_bytes;
  if (header.payload_bytes > limit) {
    header.payload_bytes = limit / 8 * 8;
    header.flags |= kDumpTruncated;
  }
  std::vector<unsigned char> frame(sizeof(header));
  std::memcpy(frame.data(), &header, sizeof(header));
  const bool has_stats = (header.flags & kDumpHasStats) != 0;
  std::uint64_t payload_left = header.payload_bytes;
  StatsOfPieces stats(view.dtype);
  const bool read = read_view(memory, view, [&](std::span<const unsigned char> piece) {
    const auto kept = std::min<std::uint64_t>(piece.size(), payload_left);
    frame.insert(frame.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(kept));
    payload_left -= kept;
    if (has_stats) stats.add(piece);
    return has_stats || payload_left > 0;
  });
  if (!read) return std::nullopt;
  if (!has_stats) return frame;
  const DumpStats result = stats.finish();
  const auto* bytes = reinterpret_cast<const unsigned char*>(&result);
  frame.insert(frame.end(), bytes, bytes + sizeof(result));
  return frame;
}

}  // namespace

HangState read_hang_state(const RegionPort& port, const RegionLayout& layout,
                          const RuntimeConfig& config, const DeviceMemory* memory) {
  HangState state;
  const StatusImage status = read_status(port, layout);
  state.units = config.units();
  state.lines = read_unit_lines(port, layout, state.units);
  state.limit_ms = config.task_timeout_ms;
  for (std::uint32_t i = 0; i < kRingCount; ++i) {
    const auto& ring = status.rings[i];
    const auto used = [](std::uint64_t head, std::uint64_t tail) {
      return head - std::min(head, tail);
    };
    state.rings[i] = {.head = ring.head,
                      .tail = ring.tail,
                      .window = config.rings[i].task_window,
                      .heap_used = used(ring.heap_head, ring.heap_tail),
                      .heap_bytes = config.rings[i].heap_bytes,
                      .deps_used = used(ring.dep_head, ring.dep_tail),
                      .fanin_used = used(ring.fanin_head, ring.fanin_tail),
                      .dep_pool = config.rings[i].dep_pool};
  }
  state.map_entries = status.map_entries;
  state.map_capacity = config.tensormap_entries;
  state.submitted = status.submitted;
  state.scopes = status.scopes;
  state.completed = status.completed_at_once;
  for (std::uint32_t i = 0; i < state.units.schedulers; ++i)
    if (state.units.scheduler(i) < state.lines.size())
      state.completed += state.lines[state.units.scheduler(i)].count;
  state.orchestration_done = status.orchestration_done != 0;
  for (const auto& file : status.site_files)
    if (std::string text = status_text(file); !text.empty()) state.site_files.push_back(text);
  if (const std::uint32_t crashed = status.fault_unit;
      crashed != 0 && crashed <= state.units.total()) {
    state.unit = crashed - 1;
    state.has_unit = true;
  }
  for (LaneIndex lane = 0; lane < layout.shape.max_lanes; ++lane)
    if (port.load32(layout.lane_offset(lane) + offsetof(LaneEntry, words.waiting)) == 1)
      state.waiting_lanes.push_back(lane);
  if (memory == nullptr) return state;
  const RuntimeLayout runtime = lay_out(config);
  SlotReader slots(*memory, runtime);
  for (std::uint32_t shape = 0; shape < kTaskShapeCount; ++shape) {
    const std::uint64_t queue = runtime.ready_offset + shape * runtime.ready_bytes;
    std::uint64_t pushed = 0, taken = 0;
    if (slots.get(queue + offsetof(ReadyQueueWords, pushed), &pushed, sizeof(pushed)) &&
        slots.get(queue + offsetof(ReadyQueueWords, taken), &taken, sizeof(taken)))
      state.ready[shape] = pushed > taken ? pushed - taken : 0;
  }
  read_tasks(slots, status, config, state);
  const TaskId last{state.lines.empty() ? 0 : state.lines[0].task_id};
  TaskSlot slot;
  if (state.submitted > 0 && last.ring() < kRingCount &&
      slots.read(last.ring(), last.local(), slot) && slot.id.without_lap() == last.without_lap())
    state.last_site = site_of(status, slot);
  return state;
}

std::vector<std::vector<unsigned char>> snapshot_outputs(const HangState& state,
                                                         const RuntimeConfig& config,
                                                         const DeviceMemory& memory,
                                                         bool still_running,
                                                         const SnapshotLimits& limits) {
  std::vector<std::vector<unsigned char>> frames;
  const RuntimeLayout layout = lay_out(config);
  const SlotReader slots(memory, layout);
  std::set<std::uint64_t> seen;
  std::uint64_t left = limits.total_bytes, scan_left = kScanBytesMax;
  for (std::uint32_t core = 0; core < state.units.cores; ++core) {
    const std::uint32_t unit = state.units.core(core);
    if (unit >= state.lines.size()) break;
    const UnitImage& line = state.lines[unit];
    if (line.state != UnitState::kBusy) continue;
    const TaskId id{line.task_id};
    TaskSlot slot;
    if (id.ring() >= kRingCount || !slots.read(id.ring(), id.local(), slot) ||
        slot.id.value != id.value || slot.tensor_count > kTensorsMax ||
        !seen.insert(id.value).second)
      continue;
    for (std::uint32_t i = 0; i < slot.tensor_count; ++i) {
      StoredTensor tensor;
      if (!slots.get(slot.args_offset + i * sizeof(tensor), &tensor, sizeof(tensor))) break;
      if (!writes(tensor.access) || !lies_within(tensor.view, memory.bytes())) continue;
      DumpHeader header;
      header.core = static_cast<std::uint16_t>(core);
      header.task_id = id.value;
      header.time_ticks = state.detected_ticks;
      header.arg_index = static_cast<std::uint8_t>(i);
      header.block_count = slot.block_count;
      std::copy(std::begin(slot.kernels), std::end(slot.kernels), std::begin(header.kernels));
      if (still_running) header.flags |= kDumpTorn;
      // Statistics are of all elements, also of those that are not kept.
      const std::uint64_t scanned = tensor.view.element_count() * dtype_bytes(tensor.view.dtype);
      if (scanned <= scan_left) header.flags |= kDumpHasStats;
      scan_left -= std::min(scan_left, scanned);
      auto frame = make_frame(header, tensor, memory, std::min(left, limits.tensor_bytes));
      if (!frame) continue;
      frames.push_back(std::move(*frame));
      left -= std::min(left, header.payload_bytes);
    }
  }
  return frames;
}

}  // namespace tidemark
