// SPDX-License-Identifier: Apache-2.0
// A workload's graph as a CUDA graph: the host builds it as for host_build_graph, and each task
// becomes a node that runs the task's kernels on the arguments in its slot.

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "tidemark/base/mapped_memory.h"
#include "tidemark/bench/kernel_graph.h"
#include "tidemark/device/cuda/cuda_block.cuh"
#include "tidemark/device/cuda/cuda_launch.cuh"
#include "tidemark/device/cuda/cuda_program.h"
#include "tidemark/device/cuda/task_kernel.h"
#include "tidemark/device/cuda/unit_placement.h"
#include "tidemark/device/sim/sim_units.h"
#include "workloads/bgemm.h"
#include "workloads/paged_attention.h"

namespace tidemark::bench {
namespace {

// What a node needs of its task's slot.
struct TaskNode {
  unsigned char* base;
  const StoredTensor* tensors;
  const StoredScalar* scalars;
  std::uint32_t tensor_count, scalar_count, block_count;
  std::uint16_t kernels[kKernelsMax];  // one after the other: one per y of the grid
  TaskId task;
};

template <class Kernels>
__global__ void __launch_bounds__(kUnitThreads) run_task(const __grid_constant__ TaskNode node) {
  CtaUnitBlock<kUnitThreads> block(nullptr, 0);
  block.sync();
  KernelCall call{
      .kernel = node.kernels[blockIdx.y],
      .args = {node.base, node.tensors, node.tensor_count, node.scalars, node.scalar_count}};
  call.args.block = blockIdx.x;
  call.args.block_count = node.block_count;
  call.args.task = node.task;
  call.args.share_slip(&block.common_word());
  run_call<Kernels>(block, call);
}

// The tasks in their order, and who waits for whom.
struct GraphNotes : NoWatch {
  void submitted(const TaskSlot& slot) { tasks.push_back(&slot); }
  void edge(const GraphEdge& edge) { edges.emplace(edge.consumer.value, edge.producer.value); }

  std::vector<const TaskSlot*> tasks;
  std::set<std::pair<std::uint64_t, std::uint64_t>> edges;  // consumer, producer
};

template <class W>
class KernelGraph {
 public:
  KernelGraph(CudaLaunch& launch, const char* case_name) : launch_(launch) {
    setup_.case_name = case_name;
    W::prepare(setup_, data_);
  }
  ~KernelGraph() {
    if (runnable_ != nullptr) cudaGraphExecDestroy(runnable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    for (cudaEvent_t event : events_)
      if (event != nullptr) cudaEventDestroy(event);
    cudaFree(memory_);
  }
  KernelGraph(const KernelGraph&) = delete;
  KernelGraph& operator=(const KernelGraph&) = delete;

  bool run(std::uint32_t repeat) {
    for (cudaEvent_t& event : events_)
      if (!launch_.check(cudaEventCreate(&event), "cudaEventCreate")) return false;
    if (!build() || !add_nodes() || !time_launches(repeat)) return false;
    const EntryArgs args = data_.args(layout_.entry_offset);
    for (std::size_t i = 0; i < data_.buffers().size(); ++i) {
      auto& bytes = data_.buffers()[i].bytes;
      if (!launch_.check(cudaMemcpy(bytes.data(), memory_ + args.tensors[i].buffer, bytes.size(),
                                    cudaMemcpyDeviceToHost),
                         "results of a graph"))
        return false;
    }
    launch_.note_figure(kGraphNodes, static_cast<double>(notes_.tasks.size()));
    launch_.note_figure(kGraphEdges, static_cast<double>(notes_.edges.size()));
    launch_.note_figure(kGraphRight, W::check(setup_, data_).passed ? 1 : 0);
    return true;
  }

 private:
  // In memory of the host, then on the GPU at the same offsets.
  bool build() {
    const TaskKernel* kernel = find_task_kernel(W::kName);
    if (kernel == nullptr) return launch_.fail("the workload's kernel is not in this program");
    shared_bytes_ = kernel->shared_bytes;
    int device = 0;
    if (!launch_.check(cudaGetDevice(&device), "cudaGetDevice")) return false;
    const DeviceShape shape = shape_of_cuda_device(*kernel, static_cast<std::uint32_t>(device));
    if (shape.error[0] != 0) return launch_.fail(shape.error);
    RuntimeConfig config;
    config.build = BuildKind::kHostBuild;
    config.cluster_count = shape.cluster_count;
    config.scheduler_count = shape.scheduler_count;
    config.entry_bytes = data_.total_bytes();
    layout_ = lay_out(config);
    image_ = MappedMemory(layout_.total_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!image_.valid()) return launch_.fail("no memory for the image of a graph");
    const RuntimeMemory here(image_.base(), layout_);
    const EntryArgs args = data_.args(layout_.entry_offset);
    here.control().entry = args;
    for (std::size_t i = 0; i < data_.buffers().size(); ++i)
      std::memcpy(image_.data() + args.tensors[i].buffer, data_.buffers()[i].bytes.data(),
                  data_.buffers()[i].bytes.size());
    const std::uint64_t bytes = status_bytes(config.units());
    std::vector<std::byte> status_memory(bytes + alignof(UnitProgress));
    void* place = status_memory.data();
    std::size_t space = status_memory.size();
    auto* status =
        static_cast<RuntimeStatus*>(std::align(alignof(UnitProgress), bytes, place, space));
    orchestrate_here<W>(here, status, notes_);
    // pairs with [error latched]
    if (status->error.code.load_acquire() != ErrorCode::kNone)
      return launch_.fail("the graph does not fit into what was planned for it");
    return upload();
  }
  // All but the heaps.
  bool upload() {
    if (!launch_.check(cudaMalloc(&memory_, layout_.total_bytes), "cudaMalloc for a graph"))
      return false;
    std::uint64_t begin = 0;
    for (std::uint32_t i = 0; i <= kRingCount; ++i) {
      const std::uint64_t end = i < kRingCount ? layout_.rings[i].heap_offset : layout_.total_bytes;
      if (end > begin && !launch_.check(cudaMemcpy(memory_ + begin, image_.data() + begin,
                                                   end - begin, cudaMemcpyHostToDevice),
                                        "upload of a graph"))
        return false;
      if (i < kRingCount) begin = end + layout_.config.rings[i].heap_bytes;
    }
    return true;
  }

  bool add_nodes() {
    const auto function = reinterpret_cast<const void*>(&run_task<typename W::Kernels>);
    if (!launch_.check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(shared_bytes_)),
                       "shared memory of a task") ||
        !launch_.check(cudaGraphCreate(&graph_, 0), "cudaGraphCreate"))
      return false;
    std::map<std::uint64_t, cudaGraphNode_t> nodes;
    for (const TaskSlot* slot : notes_.tasks) {
      std::vector<cudaGraphNode_t> before;
      for (auto edge = notes_.edges.lower_bound({slot->id.value, 0});
           edge != notes_.edges.end() && edge->first == slot->id.value; ++edge)
        before.push_back(nodes.at(edge->second));
      if (!add_node(*slot, function, before, nodes[slot->id.value])) return false;
    }
    return launch_.check(cudaGraphInstantiate(&runnable_, graph_, 0), "cudaGraphInstantiate") &&
           launch_.check(cudaGraphUpload(runnable_, launch_.stream()), "cudaGraphUpload");
  }
  bool add_node(const TaskSlot& slot, const void* function,
                const std::vector<cudaGraphNode_t>& before, cudaGraphNode_t& made) {
    const RuntimeMemory here(image_.base(), layout_);
    const auto on_gpu = [&](const auto* pointer) {
      return reinterpret_cast<decltype(pointer)>(
          memory_ + (reinterpret_cast<const unsigned char*>(pointer) - image_.data()));
    };
    TaskNode node{.base = memory_,
                  .tensors = on_gpu(here.tensors(slot)),
                  .scalars = on_gpu(here.scalars(slot)),
                  .tensor_count = slot.tensor_count,
                  .scalar_count = slot.scalar_count,
                  .block_count = slot.block_count,
                  .kernels = {},
                  .task = slot.id};
    std::uint32_t parts = 0;
    for (const std::uint16_t kernel : slot.kernels)
      if (slot.shape != TaskShape::kDummy && kernel != kNoKernel) node.kernels[parts++] = kernel;
    if (parts == 0)
      return launch_.check(cudaGraphAddEmptyNode(&made, graph_, before.data(), before.size()),
                           "cudaGraphAddEmptyNode");
    void* parameters[] = {&node};
    cudaKernelNodeParams kernel{};
    kernel.func = const_cast<void*>(function);
    kernel.gridDim = dim3(slot.block_count, parts);
    kernel.blockDim = dim3(kUnitThreads);
    kernel.sharedMemBytes = shared_bytes_;
    kernel.kernelParams = parameters;
    return launch_.check(
        cudaGraphAddKernelNode(&made, graph_, before.data(), before.size(), &kernel),
        "cudaGraphAddKernelNode");
  }

  bool time_launches(std::uint32_t repeat) {
    const auto mark = [&](std::size_t event) {
      return launch_.check(cudaEventRecord(events_[event], launch_.stream()), "cudaEventRecord");
    };
    bool good = mark(0);
    for (std::uint32_t i = 0; good && i < repeat; ++i) {
      good = launch_.check(cudaGraphLaunch(runnable_, launch_.stream()), "cudaGraphLaunch");
      if (good && i == 0) good = mark(1);
    }
    if (!good || !mark(2) ||
        !launch_.check(cudaStreamSynchronize(launch_.stream()), "a graph of kernels"))
      return false;
    float first_ms = 0, next_ms = 0;
    if (!launch_.check(cudaEventElapsedTime(&first_ms, events_[0], events_[1]), "elapsed time") ||
        !launch_.check(cudaEventElapsedTime(&next_ms, events_[1], events_[2]), "elapsed time"))
      return false;
    launch_.note_figure(kGraphFirstNs, static_cast<double>(first_ms) * 1e6);
    launch_.note_figure(kGraphNextNs, static_cast<double>(next_ms) * 1e6 / (repeat - 1));
    return true;
  }

  CudaLaunch& launch_;
  WorkloadSetup setup_;
  EntryData data_;
  RuntimeLayout layout_;
  MappedMemory image_;
  GraphNotes notes_;
  unsigned char* memory_ = nullptr;
  std::uint32_t shared_bytes_ = 0;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t runnable_ = nullptr;
  cudaEvent_t events_[3] = {};
};

bool run_kernel_graph(CudaLaunch& launch) {
  const auto args = launch.args<KernelGraphArgs>();
  if (args.workload == KernelGraphOf::kBgemm)
    return KernelGraph<Bgemm>(launch, "Small").run(args.repeat);
  return KernelGraph<PagedAttention>(launch, "Small2").run(args.repeat);
}

}  // namespace

void register_kernel_graph_bench() {
  register_cuda_program(kKernelGraphProgram, &run_kernel_graph);
}

}  // namespace tidemark::bench
