// SPDX-License-Identifier: Apache-2.0
// Test support: a random program run as a session, device in this process, every stream on. Beside
// the recorder a second watch keeps its own notes, which the capture is compared with.
#pragma once

#include <unistd.h>

#include <filesystem>

#include "tests/allocation_model.h"
#include "tests/random_program_generator.h"
#include "tests/random_program_reference.h"
#include "tests/random_program_workload.h"
#include "tidemark/device/program.h"
#include "tidemark/device/sim/threaded_core.h"
#include "tidemark/session/plan_workload.h"
#include "tidemark/session/run_session.h"
#include "tidemark/session/runtime_lanes.h"

namespace tidemark::random_program {

struct OwnNotes {
  explicit OwnNotes(const RuntimeConfig& config) : model(config) {}
  AllocationModel model;
  std::vector<GraphEdge> edges;
  std::vector<TaskId> tasks;
};

// Sees everything first, then lets the recorder see it.
class NotingWatch : public NoWatch {
 public:
  NotingWatch(const RegionView* region, const RuntimeMemory& memory, OwnNotes& notes)
      : recording_(region, memory.config()), memory_(memory), notes_(notes) {}

  void edge(const GraphEdge& edge) {
    notes_.edges.push_back(edge);
    recording_.edge(edge);
  }
  void submit_begins() { recording_.submit_begins(); }
  void submitted(const TaskSlot& slot) {
    notes_.tasks.push_back(slot.id);
    notes_.model.submitted(memory_, slot, memory_.config().build != BuildKind::kExplicit);
  }
  void described(const RuntimeMemory& memory, const TaskSlot& slot, const TaskPlan& plan) {
    recording_.described(memory, slot, plan);
  }
  template <class Rings>
  void submit_ends(TaskId task, Rings& rings) {
    recording_.submit_ends(task, rings);
  }
  void reclaimed(const TaskSlot& slot) { notes_.model.reclaimed(slot); }
  template <class Rings>
  void scope_opened(const ScopeStack& scopes, Rings& rings) {
    notes_.model.scope_opened(scopes.ring());
    recording_.scope_opened(scopes, rings);
  }
  template <class Rings>
  void scope_closes(const ScopeStack& scopes, Rings& rings) {
    notes_.model.scope_closes(scopes.ring());
    recording_.scope_closes(scopes, rings);
  }
  void took(Resource resource, std::uint32_t ring, std::uint64_t used, std::uint64_t taken = 1) {
    notes_.model.took(resource, ring, taken);
    recording_.took(resource, ring, used, taken);
  }
  void writers_evicted() { recording_.writers_evicted(); }
  EventRecorder<SimEnv>& recorder() { return recording_.recorder(); }
  void tell_waits_to(RecorderCosts* costs) { recording_.tell_waits_to(costs); }

 private:
  RecordingWatch<SimEnv> recording_;
  RuntimeMemory memory_;
  OwnNotes& notes_;
};

inline OwnNotes* current_notes = nullptr;

inline void run_recorded(DeviceContext& context) {
  const auto config = context.args<RuntimeConfig>();
  const RuntimeLayout layout = lay_out(config);
  const RuntimeMemory memory(context.memory(), layout);
  const RegionView* region = &context.region();
  NotingWatch watch(config.build == BuildKind::kHostBuild ? nullptr : region, memory,
                    *current_notes);
  run_sim_units<Workload>(
      memory, context.status(), watch,
      [&] { return context.stop_requested() || current_run->too_late(); }, region,
      config.block_threads > 1 ? &run_threaded_core<Workload::Kernels, SimEnv>
                               : &run_sim_core<Workload::Kernels, SimEnv>);
}

inline constexpr const char* kRecordedProgram = "recorded_program";

// One run; what it left stands in directory().
class RecordedRun {
 public:
  RecordedRun(const Program& program, RuntimeConfig config, const char* platform,
              std::uint64_t jitter)
      : program_(program), run_(program, jitter), notes_(config) {
    if (find_device_program(kRecordedProgram) == nullptr)
      register_device_program(kRecordedProgram, &run_recorded);
    directory_ = std::filesystem::temp_directory_path() /
                 fmt::format("recorded_{}_{}", ::getpid(), program.seed);
    for (std::uint32_t i = 0; i < program.external_count; ++i) {
      const Base& base = program.bases[i];
      if (base.dtype == DType::kFloat32)
        data_.add<float>(base.shape, [&](std::uint64_t at) {
          return static_cast<float>(initial_value(base.dtype, i, at));
        });
      else
        data_.add<std::int64_t>(base.shape, [&](std::uint64_t at) {
          return static_cast<std::int64_t>(initial_value(base.dtype, i, at));
        });
    }
    config.entry_bytes = data_.total_bytes();
    config_ = config;
    platform_ = find_platform(platform);
  }
  ~RecordedRun() { std::filesystem::remove_all(directory_); }
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  RunResult run(const std::function<void(RunRequest&)>& change = {}) {
    run_.looks_allowed =
        config_.build == BuildKind::kTensorMap && program_.edges != Edges::kAllExplicit;
    RunRequest request;
    request.workload = kRecordedProgram;
    request.platform = platform_;
    request.isolation = Isolation::kThread;
    request.output_dir = directory_;
    request.sync = false;
    request.force = true;
    request.launch.program = kRecordedProgram;
    request.launch.lanes = runtime_lanes(config_);
    for (std::uint16_t i = 0; i < Workload::Kernels::kCount; ++i)
      request.launch.kernels.emplace_back(Workload::Kernels::info(i).name);
    request.launch.args.resize(sizeof(RuntimeConfig));
    std::memcpy(request.launch.args.data(), &config_, sizeof(RuntimeConfig));
    request.launch.runtime = plan();
    if (change) change(request);
    current_run = &run_;
    current_notes = &notes_;
    auto result = run_session(request);
    current_run = nullptr;
    current_notes = nullptr;
    TM_CHECK(result.has_value());
    return *result;
  }

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const OwnNotes& notes() const { return notes_; }
  [[nodiscard]] const ProgramRun& program_run() const { return run_; }

 private:
  RuntimeLaunch plan() {
    RuntimeLaunch launch;
    launch.config = config_;
    const RuntimeLayout layout = lay_out(config_);
    launch.memory_bytes = layout.total_bytes;
    launch.prepare = [this, layout](
                         DeviceMemory& memory,
                         const RegionView* region) -> tl::expected<std::vector<std::byte>, Error> {
      if (config_.build == BuildKind::kHostBuild) return build_here(memory, layout, region);
      if (auto put = upload_entry(memory, layout, data_); !put) return tl::unexpected(put.error());
      return std::vector<std::byte>{};
    };
    launch.check = [](const DeviceMemory&) { return ResultCheck{}; };
    return launch;
  }
  tl::expected<std::vector<std::byte>, Error> build_here(DeviceMemory& device,
                                                         const RuntimeLayout& layout,
                                                         const RegionView* region) {
    return build_on_host(device, layout, data_,
                         [&](const RuntimeMemory& memory, RuntimeStatus* status) {
                           NotingWatch watch(region, memory, notes_);
                           orchestrate_here<Workload>(memory, status, watch);
                         });
  }

  const Program& program_;
  ProgramRun run_;
  OwnNotes notes_;
  EntryData data_;
  RuntimeConfig config_;
  const Platform* platform_ = nullptr;
  std::string directory_;
};

}  // namespace tidemark::random_program
