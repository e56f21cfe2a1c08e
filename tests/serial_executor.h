// SPDX-License-Identifier: Apache-2.0
// Test support: runs an orchestration task by task on plain memory, with the same kernel functions
// and nothing of the runtime: no rings, no schedulers, no recorder. It keeps what every task read
// and wrote.
#pragma once

#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "tidemark/device/sim/sim_units.h"
#include "tidemark/session/entry_data.h"

namespace tidemark {

class SerialExecutor {
 public:
  using Bytes = std::vector<unsigned char>;
  // Task, stage (0 before, 1 after), argument.
  using Key = std::tuple<std::uint64_t, int, std::uint32_t>;

  explicit SerialExecutor(const EntryData& data, std::uint64_t memory_bytes = 64u << 20)
      : memory_(memory_bytes) {
    entry_ = data.args(0);
    for (std::size_t i = 0; i < data.buffers().size(); ++i)
      std::memcpy(memory_.data() + entry_.tensors[i].buffer, data.buffers()[i].bytes.data(),
                  data.buffers()[i].bytes.size());
    next_ = round_up(data.total_bytes(), kHeapAlign);
  }

  template <class Workload>
  void run() {
    Orch<typename Workload::Kernels> orch(*this);
    Workload::orchestrate(orch, entry_);
  }

  std::map<Key, Bytes> tensors;
  std::map<Key, StoredScalar> scalars;
  std::uint64_t tasks = 0;

 private:
  // What an orchestration is written against.
  template <class Kernels>
  class Orch {
   public:
    explicit Orch(SerialExecutor& executor) : executor_(executor) {}

    bool open_scope(const Site&) {
      ++executor_.depth_;
      return true;
    }
    void close_scope() { --executor_.depth_; }
    [[nodiscard]] bool failed() const { return false; }
    [[nodiscard]] NoEvents recorder() const { return {}; }

    template <class Kernel, class GivenArgs>
    Submitted submit(GivenArgs&& args, Site = Site::here()) {
      return executor_.execute(
          args, [&](SimBlock& block, const TaskArgs& given) { run_kernel<Kernel>(block, given); });
    }
    template <class T>
    T value(const TensorRef& ref, std::uint64_t index, Site = Site::here()) {
      return TensorSpan<T>(executor_.memory_.data(), ref.view)[index];
    }
    template <class GivenArgs>
    Submitted allocate(GivenArgs&& args, Site = Site::here()) {
      return executor_.execute(
          args, [](SimBlock&, const TaskArgs&) {}, false);
    }

   private:
    SerialExecutor& executor_;
  };

  template <class Run>
  Submitted execute(Args& submitted_args, const Run& run, bool has_kernel = true) {
    const GivenArgs args = submitted_args.given();
    const std::uint32_t ring = ring_of_depth(depth_ - 1);
    const TaskId id = TaskId::make(ring, counts_[ring]++);
    ++tasks;
    std::vector<StoredTensor> stored(args.tensor_count());
    Submitted submitted;
    submitted.task = {id, {.depth = depth_ - 1, .serial = 1}};
    for (std::uint32_t i = 0; i < args.tensor_count(); ++i) {
      GivenArgs::Tensor& tensor = args.tensor(i);
      if (tensor.access == Access::kOutput) {
        tensor.ref.view =
            TensorView::row_major(next_, tensor.ref.view.dtype, tensor.ref.view.shape);
        tensor.ref.owner = id.value;
        tensor.ref.exists = true;
        next_ += round_up(tensor.ref.view.element_count() * dtype_bytes(tensor.ref.view.dtype) + 1,
                          kHeapAlign);
        TM_CHECK(next_ <= memory_.size());
        submitted.add_output(tensor.ref);
      }
      stored[i].view = tensor.ref.view;
      stored[i].access = tensor.access;
    }
    std::vector<StoredScalar> given;
    for (std::uint32_t i = 0; i < args.scalar_count(); ++i) given.push_back(args.scalar_at(i));
    if (!has_kernel) return submitted;
    for (std::uint32_t i = 0; i < given.size(); ++i)
      scalars[{id.value, 0, args.tensor_count() + i}] = given[i];
    keep(id, 0, stored);
    TaskArgs task(memory_.data(), stored.data(), args.tensor_count(), given.data(),
                  args.scalar_count());
    task.task = id;
    task.block_count = args.block_count();
    SimBlock block;
    for (task.block = 0; task.block < task.block_count; ++task.block) run(block, task);
    keep(id, 1, stored);
    return submitted;
  }

  // Element by element: slow and plain.
  void keep(TaskId id, int stage, const std::vector<StoredTensor>& stored) {
    for (std::uint32_t i = 0; i < stored.size(); ++i) {
      const auto access = stored[i].access;
      const bool input = access == Access::kInput || access == Access::kNoDep;
      const bool output = access == Access::kOutput || access == Access::kOutputExisting;
      if ((stage == 0 && output) || (stage == 1 && input)) continue;
      tensors[{id.value, stage, i}] = gather(stored[i].view);
    }
  }
  [[nodiscard]] Bytes gather(const TensorView& view) const {
    const std::uint64_t size = dtype_bytes(view.dtype);
    Bytes bytes;
    for (std::uint64_t n = 0; n < view.element_count(); ++n) {
      std::uint64_t rest = n, place = view.offset;
      for (std::uint32_t dim = view.shape.rank; dim-- > 0;) {
        place += rest % view.shape.extent[dim] * view.stride[dim];
        rest /= view.shape.extent[dim];
      }
      const auto* from = memory_.data() + view.buffer + place * size;
      bytes.insert(bytes.end(), from, from + size);
    }
    return bytes;
  }

  std::vector<unsigned char> memory_;
  EntryArgs entry_{};
  std::uint64_t next_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t counts_[kRingCount] = {};
};

}  // namespace tidemark
