// SPDX-License-Identifier: Apache-2.0
// A program of tasks of one's own that runs on NVIDIA GPUs and on the simulated device: row sums of
// a matrix, then their softmax. One task per group of rows, and one that waits for all of them.
//
//   cuda_tasks run row_softmax                                       on the simulated device
//   cuda_tasks run row_softmax -p cuda --enable-l2-swimlane          on a GPU
//   cuda_tasks run row_softmax -p cuda --runtime host_build_graph --repeat 100
#include <cmath>
#include <vector>

#include "tidemark/runtime.cuh"

using namespace tidemark;

struct Plus {
  TM_DEVICE float operator()(float left, float right) const { return left + right; }
};
struct Larger {
  TM_DEVICE float operator()(float left, float right) const { return left < right ? right : left; }
};

// sums[i] = the sum of row i: all threads of the block on one row after the other.
struct SumRows {
  static constexpr KernelInfo kInfo{
      .name = "sum_rows",
      .core = CoreType::kAiv,
      .args = {in("rows", DType::kFloat32), out("sums", DType::kFloat32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto rows = args.tensor<float>(0), sums = args.tensor<float>(1);
    const std::uint64_t columns = rows.extent(1);
    for (std::uint64_t row = 0; row < rows.extent(0); ++row) {
      float sum = 0;
      for (std::uint64_t i = block.thread(); i < columns; i += block.threads())
        sum += rows[row * columns + i];
      sum = block.reduce(sum, Plus());
      if (block.thread() == 0) sums[row] = sum;
    }
    block.recorder().counter("rows", rows.extent(0));
  }
};

// y = softmax(x)
struct Softmax {
  static constexpr KernelInfo kInfo{.name = "softmax",
                                    .core = CoreType::kAiv,
                                    .args = {in("x", DType::kFloat32), out("y", DType::kFloat32)}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto x = args.tensor<float>(0), y = args.tensor<float>(1);
    float largest = x[0];
    for (std::uint64_t i = block.thread(); i < x.size(); i += block.threads())
      largest = Larger()(largest, x[i]);
    largest = block.reduce(largest, Larger());
    float sum = 0;
    for (std::uint64_t i = block.thread(); i < x.size(); i += block.threads())
      sum += expf(x[i] - largest);
    sum = block.reduce(sum, Plus());
    for (std::uint64_t i = block.thread(); i < x.size(); i += block.threads())
      y[i] = expf(x[i] - largest) / sum;
  }
};

struct RowSoftmax {
  static constexpr const char* kName = "row_softmax";
  static constexpr const char* kDescription = "softmax of the row sums of a matrix";
  static constexpr std::uint64_t kRows = 256, kColumns = 1024, kGroup = 8;
  using Kernels = KernelList<SumRows, Softmax>;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    const TensorRef sums = entry.tensor(1);
    for (std::uint64_t row = 0; row < kRows; row += kGroup)
      orch.template submit<SumRows>(Args()
                                        .in(entry.tensor(0).slice(0, row, kGroup))
                                        .out_existing(sums.slice(0, row, kGroup)));
    orch.template submit<Softmax>(Args().in(sums).out_existing(entry.tensor(2)));
  }

  static std::vector<WorkloadCase> cases() { return {{"small", "256 rows of 1,024"}}; }
  static void prepare(const WorkloadSetup& setup, EntryData& data) {
    const std::uint64_t seed = setup.seed;
    data.add<float>({2, {kRows, kColumns}}, [seed](std::uint64_t i) {
      return static_cast<float>((i * 2654435761u + seed) % 1024) / 65536.0f;
    });
    data.add<float>({1, {kRows}}, [](std::uint64_t) { return 0.0f; });
    data.add<float>({1, {kRows}}, [](std::uint64_t) { return 0.0f; });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData& data) {
    const auto matrix = data.values<float>(0), found = data.values<float>(2);
    std::vector<double> expected(kRows, 0);
    double sum = 0;
    for (std::uint64_t row = 0; row < kRows; ++row) {
      for (std::uint64_t i = 0; i < kColumns; ++i)
        expected[row] += static_cast<double>(matrix[row * kColumns + i]);
      expected[row] = std::exp(expected[row]);
      sum += expected[row];
    }
    ResultComparison compared("y", 1e-4, 1e-7);
    for (std::uint64_t row = 0; row < kRows; ++row)
      compared.add(row, static_cast<double>(found[row]), expected[row] / sum);
    return compared.result();
  }
};

int main(int argc, char** argv) {
  register_cuda_units<RowSoftmax>();
  return tidemark_main<RowSoftmax>(argc, argv);
}
