// SPDX-License-Identifier: Apache-2.0
// Test support: a runtime on threads of this process, without a device, a region or a session. It
// keeps what a watch saw of the graph, so that tests compare edges and not only results.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <set>
#include <vector>

#include "tidemark/device/sim/threaded_core.h"
#include "tidemark/session/entry_data.h"
#include "tidemark/session/workload_entry.h"

namespace tidemark {

struct CollectingWatch : NoWatch {
  std::vector<GraphEdge> edges;
  std::vector<TaskId> tasks;
  std::vector<TaskId> reclaimed_tasks;

  void edge(const GraphEdge& edge) { edges.push_back(edge); }
  void submitted(const TaskSlot& slot) { tasks.push_back(slot.id); }
  void reclaimed(const TaskSlot& slot) { reclaimed_tasks.push_back(slot.id); }

  // (producer, consumer) pairs.
  [[nodiscard]] std::set<std::pair<std::uint64_t, std::uint64_t>> pairs() const {
    std::set<std::pair<std::uint64_t, std::uint64_t>> found;
    for (const auto& edge : edges) found.emplace(edge.producer.value, edge.consumer.value);
    return found;
  }
};

template <class Workload>
class SimMachine {
 public:
  explicit SimMachine(const WorkloadSetup& setup) : setup_(setup) {
    Workload::prepare(setup_, data_);
    RuntimeConfig config = setup_.config;
    config.entry_bytes = data_.total_bytes();
    layout_ = lay_out(config);
    base_ = ::mmap(nullptr, layout_.total_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TM_CHECK(base_ != MAP_FAILED);
    status_memory_.resize(status_bytes(config.units()) / sizeof(UnitProgress) + 1);
    // The padding between elements too: the status lies over them.
    std::memset(static_cast<void*>(status_memory_.data()), 0,
                status_memory_.size() * sizeof(UnitProgress));
    status_ = reinterpret_cast<RuntimeStatus*>(status_memory_.data());
    memory().control().entry = data_.args(layout_.entry_offset);
    copy_buffers(true);
  }
  ~SimMachine() { ::munmap(base_, layout_.total_bytes); }
  SimMachine(const SimMachine&) = delete;
  SimMachine& operator=(const SimMachine&) = delete;

  ResultCheck run() {
    return run([] { return false; });
  }
  // `stopped`: the host wants the end.
  template <class Stopped>
  ResultCheck run(const Stopped& stopped) {
    return run_on(&run_sim_core<Kernels, SimEnv>, stopped);
  }
  // With as many threads in a block as the configuration says.
  ResultCheck run_threaded() {
    return run_on(&run_threaded_core<Kernels, SimEnv>, [] { return false; });
  }

  [[nodiscard]] RuntimeMemory memory() const { return {base_, layout_}; }
  [[nodiscard]] RuntimeStatus& status() { return *status_; }
  [[nodiscard]] CollectingWatch& watch() { return watch_; }
  [[nodiscard]] EntryData& data() { return data_; }
  [[nodiscard]] ErrorCode error() const { return status_->error.code.load_acquire(); }
  [[nodiscard]] std::uint64_t completed() const {
    return memory().control().completed.load_acquire();
  }
  // Everything was given back.
  [[nodiscard]] bool all_returned() const {
    for (const RingStatus& ring : status_->rings)
      if (ring.head.load_relaxed() != ring.tail.load_relaxed() ||
          ring.heap_head.load_relaxed() != ring.heap_tail.load_relaxed() ||
          ring.dep_head.load_relaxed() != ring.dep_tail.load_relaxed() ||
          ring.fanin_head.load_relaxed() != ring.fanin_tail.load_relaxed() ||
          ring.args_head.load_relaxed() != ring.args_tail.load_relaxed())
        return false;
    return status_->map_entries.load_relaxed() == 0;
  }

 private:
  using Kernels = typename Workload::Kernels;

  template <class Stopped>
  ResultCheck run_on(SimCore core, const Stopped& stopped) {
    if (layout_.config.build == BuildKind::kHostBuild)
      orchestrate_here<Workload>(memory(), status_, watch_);
    run_sim_units<Workload>(memory(), status_, watch_, stopped, nullptr, core);
    copy_buffers(false);
    return Workload::check(setup_, data_);
  }
  void copy_buffers(bool in) {
    const EntryArgs args = data_.args(layout_.entry_offset);
    auto* base = static_cast<std::byte*>(base_);
    for (std::size_t i = 0; i < data_.buffers().size(); ++i) {
      auto& bytes = data_.buffers()[i].bytes;
      if (bytes.empty()) continue;
      std::byte* there = base + args.tensors[i].buffer;
      std::memcpy(in ? there : bytes.data(), in ? bytes.data() : there, bytes.size());
    }
  }

  WorkloadSetup setup_;
  EntryData data_;
  RuntimeLayout layout_;
  void* base_ = nullptr;
  std::vector<UnitProgress> status_memory_;
  RuntimeStatus* status_ = nullptr;
  CollectingWatch watch_;
};

}  // namespace tidemark
