// SPDX-License-Identifier: Apache-2.0
// Test support: dumps against what a serial executor has, and runs in this process with the device
// on threads of it.
#pragma once

#include <functional>

#include "tests/serial_executor.h"
#include "tests/streams_fixture.h"
#include "tidemark/analyze/dump_index.h"
#include "tidemark/export/export_run.h"
#include "tidemark/session/register_workload.h"
#include "tidemark/session/run_session.h"
#include "tidemark/session/runtime_lanes.h"

namespace tidemark {

class DumpFixture : public Streams {
 protected:
  enum class Share { kEverything, kPart };

  // Every entry equals what the executor has; nothing is missing, or what is there is a part.
  // Returns how many entries there are.
  std::size_t expect_truth(const std::string& directory, const SerialExecutor& expected,
                           Share share = Share::kEverything) {
    auto run = RunCapture::open(path(directory));
    EXPECT_TRUE(run) << run.error().message;
    if (!run) return 0;
    const auto index = read_dump(*run);
    EXPECT_TRUE(index) << index.error().message;
    if (!index) return 0;
    EXPECT_EQ(index->malformed, 0u);
    std::set<SerialExecutor::Key> seen;
    std::size_t tensors = 0;
    for (const auto& entry : index->entries) {
      const SerialExecutor::Key key{entry.header.task_id, static_cast<int>(entry.header.stage),
                                    entry.header.arg_index};
      SCOPED_TRACE(fmt::format("{} stage {} argument {}", task_text(entry.header.task_id),
                               to_text(entry.header.stage), entry.header.arg_index));
      EXPECT_TRUE(seen.insert(key).second) << "stands twice";
      tensors += entry.is_tensor();
      expect_entry(*run, entry, key, expected);
      if (HasFatalFailure()) return 0;
    }
    if (share == Share::kEverything) {
      EXPECT_EQ(index->dropped + index->overwritten, 0u);
      EXPECT_EQ(tensors, expected.tensors.size());
      EXPECT_EQ(seen.size() - tensors, expected.scalars.size());
    }
    return seen.size();
  }

  // The manifest and its payload file say the same as the executor.
  void expect_manifest(const std::string& directory, const SerialExecutor& expected,
                       std::size_t entries) {
    const auto json = json_of(directory + "/tensor_dump/tensor_dump.json");
    const std::string bin = read(path(directory + "/tensor_dump/tensor_dump.bin"));
    ASSERT_TRUE(json.HasMember("tensors"));
    EXPECT_EQ(json["total_tensors"].GetUint64(), entries);
    EXPECT_EQ(json["tensors"].Size(), entries);
    std::uint64_t end = 0;
    for (const auto& entry : json["tensors"].GetArray()) {
      if (entry["kind"].GetString() == std::string("scalar")) continue;
      const SerialExecutor::Key key{std::stoull(entry["task_id"].GetString(), nullptr, 16),
                                    entry["stage"].GetString() == std::string("after_completion"),
                                    entry["arg_index"].GetUint()};
      ASSERT_TRUE(expected.tensors.contains(key)) << entry["task_id"].GetString();
      const auto& bytes = expected.tensors.at(key);
      EXPECT_EQ(entry["bin_offset"].GetUint64(), end);
      ASSERT_EQ(entry["bin_size"].GetUint64(), bytes.size());
      ASSERT_LE(end + bytes.size(), bin.size());
      EXPECT_EQ(std::memcmp(bin.data() + end, bytes.data(), bytes.size()), 0);
      end += bytes.size();
    }
    EXPECT_EQ(end, bin.size());
  }

  template <class Workload>
  SerialExecutor serial(const std::string& case_name) {
    EntryData data;
    WorkloadSetup setup;
    setup.case_name = case_name;
    setup.config.cluster_count = 1;
    Workload::prepare(setup, data);
    SerialExecutor executor(data);
    executor.run<Workload>();
    return executor;
  }

  struct Wish {
    std::string directory = "r";
    std::string case_name = "default";
    const char* platform = "sim";
    BuildKind build = BuildKind::kTensorMap;
    std::uint32_t repeat = 1;
    DumpLevel level = DumpLevel::kFull;
    std::uint64_t max_bytes = 0;
    std::vector<DumpRule> rules = {};
    std::function<void(RunRequest&)> change = {};
  };
  template <class Workload>
  RunResult run_here(const Wish& wish) {
    if (find_registered_workload(Workload::kName) == nullptr) register_workload<Workload>();
    const WorkloadEntry& workload = *find_registered_workload(Workload::kName);
    RuntimeConfig config;
    config.build = wish.build;
    config.repeat = wish.repeat;
    config.cluster_count = cluster_count_of(*find_platform(wish.platform));
    config.scheduler_count = find_platform(wish.platform)->scheduler_count;
    config.dump.level = wish.level;
    config.dump.max_bytes = wish.max_bytes;
    for (const DumpRule& rule : wish.rules) config.dump.rules[config.dump.rule_count++] = rule;
    config.streams[StreamId::kDump] = config.dump.on() ? 1 : 0;
    RunRequest request;
    request.workload = Workload::kName;
    request.case_name = wish.case_name;
    request.platform = find_platform(wish.platform);
    request.isolation = Isolation::kThread;
    request.output_dir = path(wish.directory);
    request.sync = false;
    request.force = true;
    request.launch.program = Workload::kName;
    request.launch.kernels = workload.kernels;
    request.launch.lanes = runtime_lanes(config);
    request.launch.runtime = workload.plan({.case_name = wish.case_name, .config = config});
    request.launch.args.resize(sizeof(RuntimeConfig));
    std::memcpy(request.launch.args.data(), &request.launch.runtime->config, sizeof(RuntimeConfig));
    request.export_artifacts = [](const std::string& directory, RunReport& report) {
      return export_automatically(directory, report, {});
    };
    if (wish.change) wish.change(request);
    const auto result = run_session(request);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result : RunResult{};
  }

 private:
  static void expect_entry(RunCapture& run, const DumpEntry& entry, const SerialExecutor::Key& key,
                           const SerialExecutor& expected) {
    if (!entry.is_tensor()) {
      ASSERT_TRUE(expected.scalars.contains(key));
      EXPECT_EQ(entry.header.scalar, expected.scalars.at(key).value);
      EXPECT_EQ(entry.header.dtype, expected.scalars.at(key).dtype);
      return;
    }
    ASSERT_TRUE(expected.tensors.contains(key));
    const auto bytes = load_payload(run, entry);
    ASSERT_TRUE(bytes) << bytes.error().message;
    ASSERT_EQ(*bytes, expected.tensors.at(key)) << "other bytes";
    TensorStats stats(entry.header.dtype);
    stats.add(bytes->data(), bytes->size());
    EXPECT_EQ(entry.stats.hash, stats.result().hash);
    EXPECT_EQ(entry.stats.max, stats.result().max);
  }
};

}  // namespace tidemark
