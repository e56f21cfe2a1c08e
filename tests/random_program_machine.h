// SPDX-License-Identifier: Apache-2.0
// Test support: runs a random program with the runtime on threads of this process. A watch sees
// every task, edge and reclaim and checks at once what must hold at that moment.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <string>

#include <fmt/core.h>

#include "tests/random_program_reference.h"
#include "tests/random_program_workload.h"

namespace tidemark::random_program {

inline std::string text_of(TaskId id) { return fmt::format("r{}t{}", id.ring(), id.local()); }

// Called by the orchestrator alone.
class ProgramWatch : public NoWatch {
 public:
  ProgramWatch(const ProgramRun& run, const RuntimeMemory& memory) : run_(run), memory_(memory) {
    for (std::uint32_t i = 0; i < run.program.tasks.size(); ++i)
      numbers_[run.program.tasks[i].id.value] = i;
  }

  void edge(const GraphEdge& edge) { edges.push_back(edge); }
  void submitted(const TaskSlot& slot) {
    const std::size_t index = submitted_count_++;
    if (index >= run_.program.tasks.size() || !(slot.id == run_.program.tasks[index].id))
      return fail(slot.id, "is not the task that was submitted");
    const std::uint32_t ring = slot.id.ring();
    ++head_[ring];
    if (head_[ring] - tail_[ring] > memory_.config().rings[ring].task_window - 1)
      fail(slot.id, "is one task too many in its window");
    for (std::uint32_t i = 0; i < slot.tensor_count; ++i) {
      const StoredTensor& tensor = memory_.tensors(slot)[i];
      if (tensor.access == Access::kOutput) note_memory(slot, tensor);
    }
  }
  void reclaimed(const TaskSlot& slot) {
    const std::uint32_t ring = slot.id.ring();
    if (slot.id.local() != tail_[ring]++) fail(slot.id, "is reclaimed out of its order");
    const std::uint32_t index = number_of(slot.id);
    const Task& task = run_.program.tasks[index];
    if (!run_.is_done(index)) fail(slot.id, "is reclaimed before it is complete");
    if (run_.open[task.scope]) fail(slot.id, "is reclaimed in an open scope");
    for (std::size_t i = index + 1; i < submitted_count_; ++i)
      for (const Arg& arg : run_.program.tasks[i].args)
        if (run_.program.bases[arg.base].owner == index &&
            !run_.is_done(static_cast<std::uint32_t>(i)))
          fail(slot.id, "is reclaimed while its memory is used");
    std::erase_if(memory_of_tasks_, [&](const Range& range) { return range.task == slot.id; });
  }

  [[nodiscard]] std::uint32_t number_of(TaskId id) const { return numbers_.at(id.value); }
  [[nodiscard]] PairSet pairs() const {
    PairSet found;
    for (const auto& edge : edges)
      found.emplace(number_of(edge.producer), number_of(edge.consumer));
    return found;
  }
  [[nodiscard]] std::size_t submitted_count() const { return submitted_count_; }
  [[nodiscard]] bool all_reclaimed() const {
    return std::equal(std::begin(head_), std::end(head_), tail_);
  }

  std::vector<GraphEdge> edges;
  std::vector<std::string> problems;

 private:
  struct Range {
    TaskId task;
    std::uint64_t first, end;
  };
  void fail(TaskId id, const char* what) { problems.push_back(text_of(id) + " " + what); }
  void note_memory(const TaskSlot& slot, const StoredTensor& tensor) {
    const RingLayout& ring = memory_.layout().rings[slot.id.ring()];
    const std::uint64_t bytes = tensor.view.element_count() * dtype_bytes(tensor.view.dtype);
    const Range range{slot.id, tensor.view.buffer,
                      tensor.view.buffer + std::max<std::uint64_t>(bytes, 1)};
    if (range.first % 1024 != 0) fail(slot.id, "has an output that is not aligned");
    if (range.first < ring.heap_offset ||
        range.end > ring.heap_offset + memory_.config().rings[slot.id.ring()].heap_bytes)
      fail(slot.id, "has an output outside of its heap");
    for (const Range& other : memory_of_tasks_)
      if (range.first < other.end && other.first < range.end)
        fail(slot.id, "shares memory with a live task");
    memory_of_tasks_.push_back(range);
  }

  const ProgramRun& run_;
  RuntimeMemory memory_;
  std::map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<Range> memory_of_tasks_;
  std::size_t submitted_count_ = 0;
  std::uint64_t head_[kRingCount] = {}, tail_[kRingCount] = {};
};

class Machine {
 public:
  Machine(const Program& program, RuntimeConfig config, std::uint64_t jitter)
      : program_(program), run_(program, jitter) {
    for (std::uint32_t i = 0; i < program.external_count; ++i)
      config.entry_bytes += bytes_of(program.bases[i]);
    layout_ = lay_out(config);
    base_ = ::mmap(nullptr, layout_.total_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TM_CHECK(base_ != MAP_FAILED);
    status_memory_.resize(status_bytes(config.units()) / sizeof(UnitProgress) + 1);
    // Also where a line has padding: the status stands there.
    std::memset(static_cast<void*>(status_memory_.data()), 0,
                status_memory_.size() * sizeof(UnitProgress));
    watch_ = std::make_unique<ProgramWatch>(run_, memory());
    fill_entry();
    run_.looks_allowed =
        config.build == BuildKind::kTensorMap && program.edges != Edges::kAllExplicit;
  }
  ~Machine() { ::munmap(base_, layout_.total_bytes); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  template <UnitEnv Env = SimEnv>
  void run() {
    current_run = &run_;
    if (layout_.config.build == BuildKind::kHostBuild)
      orchestrate_here<Workload>(memory(), &status(), *watch_);
    run_sim_units<Workload, Env>(memory(), &status(), *watch_, [&] { return run_.too_late(); });
    current_run = nullptr;
  }

  // What the external buffers hold.
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> external() const {
    std::vector<std::vector<std::uint64_t>> found;
    for (std::uint32_t i = 0; i < program_.external_count; ++i) {
      const TensorView& view = memory().control().entry.tensors[i];
      auto& values = found.emplace_back();
      for (std::uint64_t at = 0; at < view.element_count(); ++at)
        values.push_back(view.dtype == DType::kFloat32
                             ? static_cast<std::uint64_t>(memory().at<float>(view.buffer)[at])
                             : memory().at<std::uint64_t>(view.buffer)[at]);
    }
    return found;
  }
  [[nodiscard]] const ProgramRun& notes() const { return run_; }
  [[nodiscard]] const ProgramWatch& watch() const { return *watch_; }
  [[nodiscard]] const RuntimeConfig& config() const { return layout_.config; }
  [[nodiscard]] RuntimeStatus& status() {
    return *reinterpret_cast<RuntimeStatus*>(status_memory_.data());
  }
  [[nodiscard]] RuntimeMemory memory() const { return {base_, layout_}; }
  // Every ring, every pool and the map are empty.
  [[nodiscard]] bool all_returned() {
    for (const RingStatus& ring : status().rings)
      if (ring.head.load_relaxed() != ring.tail.load_relaxed() ||
          ring.heap_head.load_relaxed() != ring.heap_tail.load_relaxed() ||
          ring.dep_head.load_relaxed() != ring.dep_tail.load_relaxed() ||
          ring.fanin_head.load_relaxed() != ring.fanin_tail.load_relaxed())
        return false;
    return status().map_entries.load_relaxed() == 0 && watch_->all_reclaimed();
  }

 private:
  static std::uint64_t bytes_of(const Base& base) {
    return round_up(base.shape.element_count() * dtype_bytes(base.dtype), kEntryAlign);
  }
  void fill_entry() {
    EntryArgs& entry = memory().control().entry;
    std::uint64_t offset = layout_.entry_offset;
    for (std::uint32_t i = 0; i < program_.external_count; ++i) {
      const Base& base = program_.bases[i];
      entry.tensors[entry.tensor_count++] = TensorView::row_major(offset, base.dtype, base.shape);
      for (std::uint64_t at = 0; at < base.shape.element_count(); ++at) {
        const std::uint64_t value = initial_value(base.dtype, i, at);
        if (base.dtype == DType::kFloat32)
          memory().at<float>(offset)[at] = static_cast<float>(value);
        else
          memory().at<std::uint64_t>(offset)[at] = value;
      }
      offset += bytes_of(base);
    }
  }

  const Program& program_;
  ProgramRun run_;
  RuntimeLayout layout_;
  void* base_ = nullptr;
  std::vector<UnitProgress> status_memory_;
  std::unique_ptr<ProgramWatch> watch_;
};

}  // namespace tidemark::random_program
