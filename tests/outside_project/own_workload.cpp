// SPDX-License-Identifier: Apache-2.0
// Somebody else's workload: y = a x + y in tiles, each tile in a scope of its own. Everything but
// the kernel, the orchestration, the inputs and the check comes with the package.
#include "tidemark/runtime.h"

using namespace tidemark;

struct Axpy {
  static constexpr KernelInfo kInfo{
      .name = "axpy",
      .core = CoreType::kAiv,
      .args = {in("x", DType::kFloat32), inout("y", DType::kFloat32), scalar("a")}};
  template <class Block>
  TM_DEVICE static void run(Block& block, const TaskArgs& args) {
    const auto x = args.tensor<float>(0), y = args.tensor<float>(1);
    for (auto i = block.thread(); i < y.size(); i += block.threads())
      y[i] += args.scalar<float>(0) * x[i];
  }
};

struct TiledAxpy {
  static constexpr const char* kName = "tiled_axpy";
  static constexpr const char* kDescription = "y = 2 x + 3 x + y, tile by tile";
  static constexpr std::uint64_t kTiles = 32, kTile = 256;
  using Kernels = KernelList<Axpy>;

  template <class Orch>
  TM_DEVICE static void orchestrate(Orch& orch, const EntryArgs& entry) {
    Scope root(orch);
    for (std::uint64_t tile = 0; tile < kTiles; ++tile) {
      Scope scope(orch);
      const auto x = entry.tensor(0).slice(0, tile * kTile, kTile);
      const auto y = entry.tensor(1).slice(0, tile * kTile, kTile);
      const auto first = orch.template submit<Axpy>(Args().in(x).inout(y).scalar(2.0f));
      orch.template submit<Axpy>(Args().in(x).inout(y).scalar(3.0f).after(first));
    }
  }

  static std::vector<WorkloadCase> cases() { return {{"small", "32 tiles of 256"}}; }
  static void prepare(const WorkloadSetup& setup, EntryData& data) {
    const auto seed = static_cast<float>(setup.seed);
    data.add<float>({1, {kTiles * kTile}},
                    [&](std::uint64_t i) { return static_cast<float>(i % 7) + seed; });
    data.add<float>({1, {kTiles * kTile}}, [](std::uint64_t) { return 1.0f; });
  }
  static ResultCheck check(const WorkloadSetup&, const EntryData& data) {
    ResultComparison compared("y");
    for (std::uint64_t i = 0; i < kTiles * kTile; ++i)
      compared.add(i, static_cast<double>(data.values<float>(1)[i]),
                   1.0 + 5.0 * static_cast<double>(data.values<float>(0)[i]));
    return compared.result();
  }
};

int main(int argc, char** argv) { return tidemark_main<TiledAxpy>(argc, argv); }
